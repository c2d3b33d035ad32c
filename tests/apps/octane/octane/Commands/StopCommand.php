<?php

declare(strict_types=1);

namespace Laravel\Octane\Commands;

use Illuminate\Console\Command;

class StopCommand extends Command
{
    public $signature = 'octane:stop {--server=}';

    public function handle()
    {
        return $this->invalidServer((string) ($this->option('server') ?: config('octane.server')));
    }

    /** @return int */
    protected function invalidServer(string $server)
    {
        $this->error("Invalid server: {$server}.");

        return 1;
    }
}
