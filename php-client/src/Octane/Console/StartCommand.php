<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Laravel\Octane\Commands\StartCommand as OctanesStartCommand;

/** Octane's own, which also knows the server `cetane`. */
final class StartCommand extends OctanesStartCommand
{
    /** What Octane has for other servers, in one version or another. */
    private const OF_OTHERS = [
        'https' => 'put TLS in front of Cetane, which serves plain HTTP',
        'http-redirect' => 'what stands in front of Cetane does that',
        'caddyfile' => 'settings of the server are those of config/cetane.php',
        'rr-config' => 'settings of the server are those of config/cetane.php',
        'admin-host' => 'commands reach Cetane by a private socket',
        'admin-port' => 'commands reach Cetane by a private socket',
        'rpc-host' => 'commands reach Cetane by a private socket',
        'rpc-port' => 'commands reach Cetane by a private socket',
    ];

    /**
     * @return int
     */
    protected function invalidServer(string $server)
    {
        if ($server !== 'cetane') {
            return parent::invalidServer($server);
        }
        foreach (self::OF_OTHERS as $name => $instead) {
            if ($this->input->hasParameterOption("--$name", true)) {
                $this->warn("--$name has no effect: $instead.");
            }
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
