<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Laravel\Octane\Commands\StartCommand as OctanesStartCommand;

/** Octane's own, which also knows the server `cetane`. */
final class StartCommand extends OctanesStartCommand
{
    /**
     * @return int
     */
    protected function invalidServer(string $server)
    {
        if ($server !== 'cetane') {
            return parent::invalidServer($server);
        }
        $options = [];
        foreach (['host', 'port', 'workers', 'task-workers', 'max-requests', 'watch', 'poll', 'log-level'] as $name) {
            $isKnown = $this->hasOption($name) && $this->getApplication()->find('cetane:start')->getDefinition()->hasOption($name);
            if ($isKnown && ($value = $this->option($name)) !== null) {
                $options["--$name"] = $value;
            }
        }

        return $this->call('cetane:start', $options);
    }

    /**
     * Octane's list needs the pcntl extension.
     *
     * @return list<int>
     */
    public function getSubscribedSignals(): array
    {
        return function_exists('pcntl_signal') ? parent::getSubscribedSignals() : [];
    }
}
