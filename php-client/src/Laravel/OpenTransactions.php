<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Illuminate\Contracts\Foundation\Application;
use Throwable;

/**
 * Database transactions that a request has left open. Under php-fpm they end with its connection; here the next request would be part of them, and
 * their locks would be held until then.
 *
 * @internal
 */
final class OpenTransactions
{
    /** Rolls them back, with a line in PHP's error log for each. A connection that cannot do it is closed. */
    public static function rollBack(Application $app): void
    {
        $connections = $app->resolved('db') ? $app->make('db')->getConnections() : [];
        foreach ($connections as $name => $connection) {
            if ($connection->transactionLevel() === 0) {
                continue;
            }
            error_log("The database transaction that was left open on connection $name was rolled back.");
            try {
                $connection->rollBack(0);
            } catch (Throwable $problem) {
                error_log("Rolling it back failed, the connection is closed: {$problem->getMessage()}");
                $app->make('db')->purge($name);
            }
        }
    }

    private function __construct()
    {
    }
}
