<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Database\Connection;

/**
 * What becomes of database connections when a request is over: a sandbox that is frozen cannot close them, and each one that is kept is one that the
 * server holds for a function that may never run again.
 *
 * `OCTANE_PERSIST_DATABASE_SESSIONS=1` (also `OCTANE_DATABASE_SESSION_PERSIST`) keeps them; else they are closed. With `OCTANE_DATABASE_SESSION_TTL`
 * seconds, MySQL and MariaDB are asked to close those that are kept and idle for longer.
 *
 * @internal
 */
final class DatabaseSessions
{
    /** @var \WeakMap<\PDO, true> those that the server closes soon unless they are told otherwise */
    private \WeakMap $short;

    /** @param int $ttl seconds; 0: as long as the server likes */
    public function __construct(private readonly bool $persist, private readonly int $ttl)
    {
        $this->short = new \WeakMap();
    }

    public static function ofEnvironment(): self
    {
        $persist = \getenv('OCTANE_PERSIST_DATABASE_SESSIONS') ?: \getenv('OCTANE_DATABASE_SESSION_PERSIST');

        return new self(\filter_var($persist, \FILTER_VALIDATE_BOOL), \max(0, (int) \getenv('OCTANE_DATABASE_SESSION_TTL')));
    }

    /** Before a request: its first query on a connection that was kept has the server's own time-out again. */
    public function begin(Application $app): void
    {
        if (\count($this->short) === 0) {
            return;
        }
        foreach ($this->connections($app) as $connection) {
            if (\method_exists($connection, 'beforeExecuting')) {
                $connection->beforeExecuting(fn () => $this->lengthen($connection));
            } else {
                $this->lengthen($connection);
            }
        }
    }

    /** When all of the request is over. */
    public function end(Application $app): void
    {
        foreach ($this->connections($app) as $connection) {
            if (!$this->persist) {
                // The tables of a database in memory end with its connection.
                if ($connection->getDatabaseName() !== ':memory:') {
                    $connection->disconnect();
                }
            } elseif ($this->ttl > 0 && \in_array($connection->getDriverName(), ['mysql', 'mariadb'], true)) {
                $this->shorten($connection);
            }
        }
    }

    private function shorten(Connection $connection): void
    {
        $pdo = $connection->getRawPdo();
        if ($pdo instanceof \PDO && !isset($this->short[$pdo])) {
            if ($this->say($connection, $pdo, (string) $this->ttl)) {
                $this->short[$pdo] = true;
            }
        }
    }

    private function lengthen(Connection $connection): void
    {
        $pdo = $connection->getRawPdo();
        if ($pdo instanceof \PDO && isset($this->short[$pdo])) {
            unset($this->short[$pdo]);
            $this->say($connection, $pdo, '@@GLOBAL.wait_timeout');
        }
    }

    /** A connection that the server has closed meanwhile is opened anew by the query that needs it. */
    private function say(Connection $connection, \PDO $pdo, string $seconds): bool
    {
        try {
            $pdo->exec("SET SESSION wait_timeout=$seconds");

            return true;
        } catch (\PDOException) {
            $connection->disconnect();

            return false;
        }
    }

    /** @return array<Connection> */
    private function connections(Application $app): array
    {
        return $app->resolved('db') ? $app->make('db')->getConnections() : [];
    }
}
