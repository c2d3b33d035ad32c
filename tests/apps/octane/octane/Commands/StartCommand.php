<?php

declare(strict_types=1);

namespace Laravel\Octane\Commands;

use Illuminate\Console\Command;
use Symfony\Component\Console\Command\SignalableCommandInterface;

class StartCommand extends Command implements SignalableCommandInterface
{
    public $signature = 'octane:start {--server=} {--host=} {--port=} {--workers=auto} {--task-workers=auto} {--max-requests=500} {--watch} {--poll} {--rpc-port=} {--https}';

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

    public function getSubscribedSignals(): array
    {
        return [SIGINT, SIGTERM];
    }

    public function handleSignal(int $signal): void
    {
        $this->callSilent('octane:stop', ['--server' => $this->option('server')]);
    }
}
