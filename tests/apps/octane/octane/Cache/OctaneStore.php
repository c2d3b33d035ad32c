<?php

declare(strict_types=1);

namespace Laravel\Octane\Cache;

use Closure;
use Illuminate\Contracts\Cache\Store;
use Illuminate\Support\Carbon;
use Laravel\SerializableClosure\SerializableClosure;

/** A cache in a table of rows with `value` and `expiration`; keys given to interval() are computed anew now and then, by whoever ticks. */
class OctaneStore implements Store
{
    private const LONG = 31_536_000;

    /** @var list<string> */
    private array $refreshed = [];

    /** @param object $table */
    public function __construct(protected $table)
    {
    }

    public function get($key)
    {
        $row = $this->table->get($key);

        return $row === false || $row['expiration'] <= Carbon::now()->getTimestamp() ? null : unserialize($row['value']);
    }

    public function many(array $keys)
    {
        return array_combine($keys, array_map($this->get(...), $keys));
    }

    public function put($key, $value, $seconds)
    {
        return $this->table->set($key, ['value' => serialize($value), 'expiration' => Carbon::now()->getTimestamp() + $seconds]);
    }

    public function putMany(array $values, $seconds)
    {
        foreach ($values as $key => $value) {
            $this->put($key, $value, $seconds);
        }

        return true;
    }

    public function increment($key, $value = 1)
    {
        $this->forever($key, $new = (int) $this->get($key) + $value);

        return $new;
    }

    public function decrement($key, $value = 1)
    {
        return $this->increment($key, -$value);
    }

    public function forever($key, $value)
    {
        return $this->put($key, $value, self::LONG);
    }

    public function interval($key, Closure $resolver, $seconds)
    {
        $this->get("interval-$key") ?? $this->forever("interval-$key", [new SerializableClosure($resolver), 0, $seconds]);
        $this->refreshed[] = $key;
    }

    public function refreshIntervalCaches()
    {
        $now = Carbon::now()->getTimestamp();
        foreach ($this->refreshed as $key) {
            [$resolver, $at, $seconds] = $this->get("interval-$key");
            if ($now - $at >= $seconds) {
                $this->forever("interval-$key", [$resolver, $now, $seconds]);
                $this->forever($key, $resolver());
            }
        }
    }

    public function forget($key)
    {
        return $this->table->del($key);
    }

    public function flush()
    {
        foreach ($this->table as $key => $row) {
            str_starts_with($key, 'interval-') || $this->forget($key);
        }

        return true;
    }

    public function getPrefix()
    {
        return '';
    }
}
