<?php

declare(strict_types=1);

namespace Cetane\Lambda;

/**
 * What is to be done around a snapshot of AWS Lambda's SnapStart. A snapshot holds this process as it is: its connections will be dead when
 * it is restored, hours later and many times over, what it has cached will be old, and its random numbers would be the same in every copy.
 *
 *     SnapStart::beforeCheckpoint(fn () => $pdo = null);
 *     SnapStart::afterRestore(fn () => $pdo = new PDO(…));
 *
 * Hooks are registered while the application boots. Without SnapStart none is called. An exception that leaves one fails the snapshot, or
 * the restored environment, which Lambda then replaces. PHP's own random numbers are seeded anew before the first hook of a restore.
 */
final class SnapStart
{
    /** @var list<callable(): void> */
    private static array $before = [];
    /** @var list<callable(): void> */
    private static array $after = [];

    /**
     * Called before the snapshot, those registered last first: close connections, drop what must not be the same in all copies.
     *
     * @param callable(): mixed $hook
     */
    public static function beforeCheckpoint(callable $hook): void
    {
        self::$before[] = $hook;
    }

    /**
     * Called after each restore and before the first event, in the order of their registration: connect, read credentials again.
     *
     * @param callable(): mixed $hook
     */
    public static function afterRestore(callable $hook): void
    {
        self::$after[] = $hook;
    }

    /** @internal */
    public static function checkpoint(): void
    {
        foreach (\array_reverse(self::$before) as $hook) {
            $hook();
        }
        \gc_collect_cycles();
    }

    /** @internal */
    public static function restored(): void
    {
        // random_int() and random_bytes() ask the kernel; mt_rand(), rand(), shuffle() and array_rand() count on from this seed.
        \mt_srand(\random_int(\PHP_INT_MIN, \PHP_INT_MAX));
        \clearstatcache();
        foreach (self::$after as $hook) {
            $hook();
        }
    }

    private function __construct()
    {
    }
}
