<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Support\ServiceProvider;
use Illuminate\Support\Facades\Cache;
use Laravel\Octane\Cache\OctaneStore;
use Laravel\Octane\Contracts\Client;
use Laravel\Octane\Contracts\StoppableClient;
use Laravel\Octane\Events\RequestReceived;
use Laravel\Octane\Events\TickReceived;
use Laravel\Octane\Events\WorkerErrorOccurred;

/**
 * Gives the services of the demo application to the sandbox of each request, reports what escapes, and asks a client to stop after that.
 */
final class OctaneServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->mergeConfigFrom(__DIR__ . '/config.php', 'octane');
        $this->app->singleton('octane', Octane::class);
    }

    public function boot(): void
    {
        $events = $this->app->make('events');
        foreach ($this->app->make('config')->get('octane.listeners') as $event => $listeners) {
            array_map(static fn (string $listener) => $events->listen($event, [self::class, $listener](...)), $listeners);
        }
        if ($this->app->bound('octane.cacheTable')) {
            $store = new OctaneStore($this->app->make('octane.cacheTable'));
            $events->listen(TickReceived::class, static fn () => $store->refreshIntervalCaches());
            Cache::extend('octane', fn () => Cache::repository($store));
        }
        if ($this->app->runningInConsole()) {
            $this->commands([
                Commands\InstallCommand::class,
                Commands\StartCommand::class,
                Commands\ReloadCommand::class,
                Commands\StatusCommand::class,
                Commands\StopCommand::class,
            ]);
        }
    }

    private static function stop(WorkerErrorOccurred $event): void
    {
        $event->sandbox->make(ExceptionHandler::class)->report($event->exception);
        $client = $event->sandbox->make(Client::class);
        if ($client instanceof StoppableClient) {
            $client->stop();
        }
    }

    private static function prepare(RequestReceived $event): void
    {
        $sandbox = $event->sandbox;
        $sandbox->instance('config', clone $sandbox->make('config'));
        $sandbox->instance('request', $event->request);
        $sandbox->make(Kernel::class)->setApplication($sandbox);
        $sandbox->make('router')->setContainer($sandbox);
        $sandbox->make('url')->setRequest($event->request);
        $sandbox->make('view')->setContainer($sandbox);
        $sandbox->make('view')->share('app', $sandbox);
        $sandbox->make('auth')->setApplication($sandbox);
        $sandbox->make('auth')->forgetGuards();
        $sandbox->make('session')->setContainer($sandbox);
        $sandbox->make('session')->forgetDrivers();
        $sandbox->make('cookie')->flushQueuedCookies();
        foreach (['auth.driver', 'session.store', 'redirect', 'translator'] as $service) {
            $sandbox->forgetInstance($service);
        }
    }
}
