<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Cetane\Laravel\Console\Server;
use Laravel\Octane\Commands\StatusCommand as OctanesStatusCommand;

/** Octane's own, which also knows the server `cetane`. */
final class StatusCommand extends OctanesStatusCommand
{
    /**
     * @return bool whether the server is running
     */
    protected function invalidServer(string $server)
    {
        return $server === 'cetane' ? $this->laravel->make(Server::class)->isRunning() : parent::invalidServer($server);
    }
}
