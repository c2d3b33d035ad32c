<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Illuminate\Console\Command;

final class StatusCommand extends Command
{
    /** @var string */
    protected $signature = 'cetane:status';

    /** @var string */
    protected $description = 'Show how the Cetane server is';

    public function handle(Server $server): int
    {
        if ($server->processId() === null) {
            $this->info('The Cetane server is not running.');

            return 1;
        }
        $status = $server->ask('status');
        $status->isSuccessful() ? $this->line(trim($status->getOutput())) : $this->info('The Cetane server is not running.');

        return $status->isSuccessful() ? 0 : 1;
    }
}
