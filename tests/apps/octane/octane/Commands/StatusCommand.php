<?php

declare(strict_types=1);

namespace Laravel\Octane\Commands;

use Illuminate\Console\Command;

class StatusCommand extends Command
{
    public $signature = 'octane:status {--server=}';

    public function handle()
    {
        $isRunning = $this->invalidServer((string) ($this->option('server') ?: config('octane.server')));
        $this->info($isRunning ? 'Octane server is running.' : 'Octane server is not running.');

        return $isRunning ? 0 : 1;
    }

    /** @return bool */
    protected function invalidServer(string $server)
    {
        $this->error("Invalid server: {$server}.");

        return false;
    }
}
