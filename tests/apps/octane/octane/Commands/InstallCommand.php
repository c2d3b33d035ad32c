<?php

declare(strict_types=1);

namespace Laravel\Octane\Commands;

use Illuminate\Console\Command;

class InstallCommand extends Command
{
    public $signature = 'octane:install {--server=}';

    public function handle()
    {
        return $this->invalidServer((string) ($this->option('server') ?: config('octane.server'))) ? 0 : 1;
    }

    /** @return bool */
    protected function invalidServer(string $server)
    {
        $this->error("Invalid server: {$server}.");

        return false;
    }
}
