<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Illuminate\Console\Command;

final class StopCommand extends Command
{
    /** @var string */
    protected $signature = 'cetane:stop';

    /** @var string */
    protected $description = 'Stop the Cetane server';

    public function handle(Server $server): int
    {
        if (!$server->isRunning()) {
            $server->forget();
            $this->error('The Cetane server is not running.');

            return 1;
        }
        $this->info('Stopping server...');
        $stop = $server->ask('stop');
        if (!$stop->isSuccessful()) {
            $this->error(trim($stop->getErrorOutput()));
        }

        return (int) $stop->getExitCode();
    }
}
