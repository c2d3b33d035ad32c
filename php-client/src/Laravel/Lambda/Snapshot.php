<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Cetane\Lambda\SnapStart;
use Illuminate\Cache\MemcachedStore;
use Illuminate\Contracts\Foundation\Application;

/**
 * Closes what a Laravel application holds open before a snapshot of SnapStart holds it: in the copies, hours later and many at once, the other ends of these
 * connections are gone. Database, Redis and Memcached connections open anew where they are next used, so after a restore nothing is left to do.
 *
 * Clients of AWS stay: they ask for credentials anew when those have expired, and repeat what a dead connection has swallowed.
 *
 * @internal
 */
final class Snapshot
{
    /**
     * Registers it for an application that has not been bootstrapped: hooks that its providers register come first, and may use what is closed after them.
     */
    public static function prepare(Application $app): void
    {
        SnapStart::beforeCheckpoint(static function () use ($app): void {
            self::closeDatabases($app);
            self::closeRedis($app);
            self::closeMemcached($app);
        });
    }

    private static function closeDatabases(Application $app): void
    {
        foreach ($app->resolved('db') ? $app->make('db')->getConnections() : [] as $connection) {
            // The tables of a database in memory end with its connection.
            if ($connection->getDatabaseName() !== ':memory:') {
                $connection->disconnect();
            }
        }
    }

    private static function closeRedis(Application $app): void
    {
        $redis = $app->resolved('redis') ? $app->make('redis') : null;
        foreach ($redis?->connections() ?? [] as $name => $connection) {
            try {
                // Else a connection that PHP keeps from request to request stays open.
                $connection->disconnect();
            } catch (\Throwable $problem) {
                \error_log("The Redis connection $name could not be closed well before the snapshot: {$problem->getMessage()}");
            }
            $redis->purge($name);
        }
    }

    private static function closeMemcached(Application $app): void
    {
        $stores = $app->resolved('cache') ? (fn (): array => $this->stores ?? [])->call($app->make('cache')) : [];
        foreach ($stores as $store) {
            if ($store->getStore() instanceof MemcachedStore) {
                $store->getStore()->getMemcached()->quit();
            }
        }
    }

    private function __construct()
    {
    }
}
