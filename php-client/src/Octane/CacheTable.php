<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\SharedTable;
use Closure;
use InvalidArgumentException;
use IteratorAggregate;
use Laravel\Octane\Exceptions\ValueTooLargeForColumnException;
use Traversable;

/**
 * What Octane calls `octane.cacheTable`: the rows of its cache, for its store to read and write as it does those of Swoole. Opened when it is first
 * used, as the configuration that says how large it is comes later than the container.
 *
 * @implements IteratorAggregate<string, array{value: string, expiration: int}>
 */
final class CacheTable implements IteratorAggregate
{
    private ?SharedTable $table = null;

    /** @param Closure(): SharedTable $open */
    public function __construct(private readonly Closure $open)
    {
    }

    public function shared(): SharedTable
    {
        return $this->table ??= ($this->open)();
    }

    /** @return array{value: string, expiration: int}|false */
    public function get(string $key): array|false
    {
        return $this->shared()->get($key) ?? false;
    }

    /**
     * @param array{value: string, expiration: int} $row
     *
     * @throws ValueTooLargeForColumnException if the value is longer than `octane.cache.bytes`
     */
    public function set(string $key, array $row): bool
    {
        return self::checked(fn (): bool => $this->shared()->set($key, $row));
    }

    public function del(string $key): bool
    {
        return $this->shared()->delete($key);
    }

    public function exist(string $key): bool
    {
        return $this->shared()->exists($key);
    }

    public function count(): int
    {
        return $this->shared()->count();
    }

    public function getIterator(): Traversable
    {
        return $this->shared()->getIterator();
    }

    /**
     * Gives what Octane's own tables would throw in the place of our exception, where it knows it.
     *
     * @internal
     *
     * @param Closure(): bool $write
     */
    public static function checked(Closure $write): bool
    {
        try {
            return $write();
        } catch (InvalidArgumentException $problem) {
            throw class_exists(ValueTooLargeForColumnException::class)
                ? new ValueTooLargeForColumnException($problem->getMessage(), 0, $problem)
                : $problem;
        }
    }
}
