<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Laravel\Octane\Commands\ReloadCommand as OctanesReloadCommand;

/** Octane's own, which also knows the server `cetane`. */
final class ReloadCommand extends OctanesReloadCommand
{
    /**
     * @return int
     */
    protected function invalidServer(string $server)
    {
        return $server === 'cetane' ? $this->call('cetane:reload') : parent::invalidServer($server);
    }
}
