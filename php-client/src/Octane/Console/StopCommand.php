<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Laravel\Octane\Commands\StopCommand as OctanesStopCommand;

/** Octane's own, which also knows the server `cetane`. */
final class StopCommand extends OctanesStopCommand
{
    /**
     * @return int
     */
    protected function invalidServer(string $server)
    {
        return $server === 'cetane' ? $this->call('cetane:stop') : parent::invalidServer($server);
    }
}
