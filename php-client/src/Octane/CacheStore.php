<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Closure;
use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Support\Carbon;
use Laravel\Octane\Cache\OctaneStore;
use Throwable;

/**
 * Octane's cache store, with operations on a number or on many keys that are one step for all workers: two that increment at the same time lose
 * nothing, and of two that add the same key one does.
 */
final class CacheStore extends OctaneStore
{
    private const YEAR_SECONDS = 31_536_000;

    /** @var array<string, array{Closure, int}> what makes a value, and after how many seconds it is made anew */
    private array $recurring = [];

    public function __construct(private readonly CacheTable $cacheTable)
    {
        parent::__construct($cacheTable);
    }

    /**
     * @param string $key
     *
     * @return mixed
     */
    public function get($key)
    {
        $value = parent::get($key);

        return $value === null && is_string($key) && isset($this->recurring[$key]) ? $this->recurring[$key][0]() : $value;
    }

    /**
     * Has the value made anew every so many seconds, by the worker that ticks. Each worker keeps the closure for itself: in the table it could have to make
     * room for other entries.
     *
     * @param string $key
     * @param int    $seconds
     *
     * @return void
     */
    public function interval($key, Closure $resolver, $seconds)
    {
        $this->recurring[$key] = [$resolver, (int) $seconds];
    }

    /** @return void */
    public function refreshIntervalCaches()
    {
        foreach ($this->recurring as $key => [$resolver, $seconds]) {
            $now = Carbon::now()->getTimestamp();
            $last = parent::get("interval-$key");
            if ($last !== null && $now - $last < $seconds) {
                continue;
            }
            try {
                $this->forever("interval-$key", $now);
                $this->forever($key, $resolver());
            } catch (Throwable $problem) {
                Container::getInstance()->make(ExceptionHandler::class)->report($problem);
            }
        }
    }

    /**
     * @param string    $key
     * @param int|float $value
     *
     * @return int|float|false the new value; false when there is no room for it
     */
    public function increment($key, $value = 1)
    {
        $new = $value;
        $add = static function (?array $row) use ($value, &$new): array {
            $new = $row === null ? $value : (int) (unserialize($row['value']) + $value);

            return ['value' => serialize($new), 'expiration' => $row['expiration'] ?? self::expiration(self::YEAR_SECONDS)];
        };

        return CacheTable::checked(fn (): bool => $this->cacheTable->shared()->update($key, $add)) ? $new : false;
    }

    /**
     * Stores the value if there is none. Laravel's repository uses it for `add()`.
     *
     * @param string $key
     * @param mixed  $value
     * @param int    $seconds
     *
     * @return bool
     */
    public function add($key, $value, $seconds)
    {
        $row = ['value' => serialize($value), 'expiration' => self::expiration($seconds)];

        return CacheTable::checked(fn (): bool => $this->cacheTable->shared()->add($key, $row));
    }

    /**
     * @param list<string> $keys
     *
     * @return array<string, mixed>
     */
    public function many(array $keys)
    {
        $rows = $this->cacheTable->shared()->getMany(array_map(strval(...), array_values($keys)));
        $values = [];
        foreach ($keys as $key) {
            // A key that is refreshed at intervals has a value when it is not there.
            $values[$key] = isset($rows[$key]) ? unserialize($rows[$key]['value']) : $this->get($key);
        }

        return $values;
    }

    /**
     * @param array<string, mixed> $values
     * @param int                  $seconds
     *
     * @return bool
     */
    public function putMany(array $values, $seconds)
    {
        $rows = array_map(
            static fn (mixed $value): array => ['value' => serialize($value), 'expiration' => self::expiration($seconds)],
            $values,
        );

        return CacheTable::checked(fn (): bool => $this->cacheTable->shared()->setMany($rows));
    }

    /**
     * Removes all but what is refreshed at intervals.
     *
     * @return bool
     */
    public function flush()
    {
        $keys = [];
        foreach ($this->cacheTable as $key => $row) {
            if (!str_starts_with($key, 'interval-')) {
                $keys[] = $key;
            }
        }
        $this->cacheTable->shared()->deleteMany($keys);

        return true;
    }

    private static function expiration(int $seconds): int
    {
        return Carbon::now()->getTimestamp() + $seconds;
    }
}
