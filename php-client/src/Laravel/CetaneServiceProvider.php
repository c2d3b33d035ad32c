<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Cetane\Octane\Console as Octane;
use Cetane\Octane\Sharing;
use Illuminate\Support\ServiceProvider;
use Laravel\Octane\Commands as Octanes;

/**
 * Brings `cetane:start`, `cetane:reload`, `cetane:stop` and `cetane:status`, and where laravel/octane is installed, makes `cetane` a server that its own
 * commands know: Artisan makes commands through the container, which gives ours in the place of Octane's.
 */
final class CetaneServiceProvider extends ServiceProvider
{
    private const CONFIG = __DIR__ . '/../../config/cetane.php';

    private const OCTANES_COMMANDS = [
        Octanes\InstallCommand::class => Octane\InstallCommand::class,
        Octanes\StartCommand::class => Octane\StartCommand::class,
        Octanes\ReloadCommand::class => Octane\ReloadCommand::class,
        Octanes\StopCommand::class => Octane\StopCommand::class,
        Octanes\StatusCommand::class => Octane\StatusCommand::class,
    ];

    public function register(): void
    {
        $this->mergeConfigFrom(self::CONFIG, 'cetane');
        if (class_exists(Octanes\StartCommand::class)) {
            foreach (self::OCTANES_COMMANDS as $theirs => $ours) {
                $this->app->bind($theirs, $ours);
            }
        }
        if (Sharing::isPossible()) {
            Sharing::register($this->app);
        }
    }

    public function boot(): void
    {
        if (Sharing::isPossible()) {
            Sharing::boot($this->app);
        }
        if ($this->app->runningInConsole()) {
            $this->commands([
                Console\StartCommand::class,
                Console\ReloadCommand::class,
                Console\StopCommand::class,
                Console\StatusCommand::class,
            ]);
            $this->publishes([self::CONFIG => $this->app->configPath('cetane.php')], 'cetane-config');
        }
    }
}
