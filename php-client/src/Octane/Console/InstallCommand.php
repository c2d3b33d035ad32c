<?php

declare(strict_types=1);

namespace Cetane\Octane\Console;

use Cetane\Laravel\Console\Server;
use Laravel\Octane\Commands\InstallCommand as OctanesInstallCommand;
use Laravel\Octane\Commands\StartFrankenPhpCommand;
use RuntimeException;

/** Octane's own, which also knows the server `cetane`. */
final class InstallCommand extends OctanesInstallCommand
{
    /**
     * Octane would offer its own servers alone.
     *
     * @return int
     */
    public function handle()
    {
        if ((string) $this->option('server') === '') {
            $servers = ['cetane', 'roadrunner', 'swoole', ...class_exists(StartFrankenPhpCommand::class) ? ['frankenphp'] : []];
            $this->input->setOption('server', $this->choice('Which application server you would like to use?', $servers, 0));
        }

        return parent::handle();
    }

    /**
     * @return bool whether the server is installed
     */
    protected function invalidServer(string $server)
    {
        if ($server !== 'cetane') {
            return parent::invalidServer($server);
        }
        try {
            $this->laravel->make(Server::class)->command();
        } catch (RuntimeException $missing) {
            $this->warn($missing->getMessage());
        }
        $this->callSilent('vendor:publish', ['--tag' => 'cetane-config']);

        return true;
    }
}
