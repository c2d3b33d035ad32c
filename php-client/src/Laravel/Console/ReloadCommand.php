<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Illuminate\Console\Command;

final class ReloadCommand extends Command
{
    /** @var string */
    protected $signature = 'cetane:reload';

    /** @var string */
    protected $description = 'Replace the workers of the Cetane server by new ones';

    public function handle(Server $server): int
    {
        if (!$server->isRunning()) {
            $this->error('The Cetane server is not running.');

            return 1;
        }
        $this->info('Reloading workers...');
        $reload = $server->ask('reload');
        if (!$reload->isSuccessful()) {
            $this->error(trim($reload->getErrorOutput()) . ' The old workers serve on.');
        }

        return (int) $reload->getExitCode();
    }
}
