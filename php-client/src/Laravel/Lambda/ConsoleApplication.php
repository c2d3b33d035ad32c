<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Cetane\Laravel\BootState;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Foundation\Application;

/**
 * A Laravel application that is booted once, as `artisan` boots it, for events that are no HTTP requests.
 *
 * @internal
 */
final class ConsoleApplication
{
    private readonly BootState $state;
    private readonly DatabaseSessions $databaseSessions;

    private function __construct(public readonly Application $laravel, public readonly Kernel $kernel)
    {
        $this->state = BootState::capture($laravel);
        $this->databaseSessions = DatabaseSessions::ofEnvironment();
    }

    /**
     * @param string $basePath absolute path of the application's directory
     *
     * @throws \RuntimeException if there is no application
     * @throws \Throwable whatever it throws while it boots
     */
    public static function boot(string $basePath): self
    {
        foreach (['vendor/autoload.php', 'bootstrap/app.php'] as $file) {
            if (!\is_file("$basePath/$file")) {
                throw new \RuntimeException("$basePath is no Laravel application that can run: $file is missing. Was `composer install` run there?");
            }
        }
        // Sends mail of the mailer `log`, dumps and the like where artisan would: this is no process that serves pages.
        $_ENV['APP_RUNNING_IN_CONSOLE'] = true;
        require_once "$basePath/vendor/autoload.php";
        $app = require "$basePath/bootstrap/app.php";
        if (!$app instanceof Application) {
            throw new \RuntimeException("$basePath/bootstrap/app.php must return the application, it returned " . \get_debug_type($app) . '.');
        }
        if (Sandbox::isHere()) {
            Sandbox::prepare($app);
        }
        $kernel = $app->make(Kernel::class);
        $kernel->bootstrap();
        if (Sandbox::isHere()) {
            Sandbox::booted($app);
        }

        return new self($app, $kernel);
    }

    /**
     * Runs a piece of work in the application as it was after its boot, and puts it back there.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws \Throwable what $work throws
     */
    public function run(\Closure $work): mixed
    {
        $this->databaseSessions->begin($this->laravel);
        try {
            return $work();
        } finally {
            $this->state->restore();
            $this->databaseSessions->end($this->laravel);
        }
    }

    public function report(\Throwable $problem): void
    {
        $this->laravel->make(ExceptionHandler::class)->report($problem);
    }
}
