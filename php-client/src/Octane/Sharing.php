<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\Worker;
use Illuminate\Container\Container;
use Illuminate\Contracts\Foundation\Application;
use Laravel\Octane\Cache\OctaneStore;
use Laravel\Octane\Contracts\DispatchesTasks;
use Laravel\Octane\Events\TickReceived;
use Laravel\Octane\OctaneServiceProvider;
use Throwable;

/**
 * Has an application under Octane find its tasks, its tables and its cache where the supervisor keeps them. Nothing of this happens in a process that
 * is no worker.
 */
final class Sharing
{
    public static function isPossible(): bool
    {
        return class_exists(OctaneServiceProvider::class) && Worker::current()?->canCall() === true;
    }

    /**
     * What is to be in the container before the application boots.
     *
     * @return array<string, object>
     */
    public static function instances(): array
    {
        $cache = new CacheTable(static fn () => Tables::cache(Container::getInstance()->make('config')->get('octane.cache') ?: []));

        return [DispatchesTasks::class => new TaskDispatcher(), 'octane.cacheTable' => $cache];
    }

    /** To be called when the service providers register. */
    public static function register(Application $app): void
    {
        $app->singleton(Tables::class, static fn ($app): Tables => new Tables($app->make('config')->get('octane.tables') ?? []));
        if (Tables::loadSwoolesTable()) {
            $app->extend('octane', static fn ($octane, $app): Octane => new Octane($app->make(Tables::class)));
        }
    }

    /** To be called when the service providers boot: takes the cache driver over from Octane's provider, whichever of the two boots first. */
    public static function boot(Application $app): void
    {
        $table = $app->bound('octane.cacheTable') ? $app->make('octane.cacheTable') : null;
        if (!$table instanceof CacheTable || !$app->make('config')->get('octane.cache') || !class_exists(OctaneStore::class)) {
            return;
        }
        $store = new CacheStore($table);
        $app->make('events')->listen(TickReceived::class, static fn () => $store->refreshIntervalCaches());
        $takeOver = static function () use ($app, $store): void {
            $cache = $app->make('cache');
            // Not static: Laravel binds it to the cache manager.
            $cache->extend('octane', fn () => $cache->repository($store));
        };
        $takeOver();
        $app->getProvider(OctaneServiceProvider::class)?->booted($takeOver);
    }

    /**
     * Opens what the configuration declares, so that what is wrong with it shows at boot.
     *
     * @throws Throwable if the supervisor refuses it
     */
    public static function open(Application $app): void
    {
        if ($app->bound(Tables::class)) {
            $app->make(Tables::class);
        }
        $table = $app->bound('octane.cacheTable') ? $app->make('octane.cacheTable') : null;
        if ($table instanceof CacheTable && $app->make('config')->get('octane.cache')) {
            $table->shared();
        }
    }

    private function __construct()
    {
    }
}
