<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Measurements;

/**
 * Figures of the application's own, shown with the others at `/metrics` under the prefix `app_`:
 *
 *     Metrics::counter('orders_total', labels: ['country' => $country]);
 *     Metrics::gauge('stock', $stock, ['article' => $article]);
 *     Metrics::histogram('basket_euros', $sum, buckets: [10, 50, 100, 500]);
 *
 * They are told to the supervisor together with the end of the request or task, without a round trip of their own; those made while the application
 * boots go with the first. Names and labels are as Prometheus wants them, a label's value has 256 bytes at most, and there are no more series than
 * `metrics.application-series` says: what the supervisor does not take it counts and names in its log, and nothing happens here. In a process that is no
 * worker of Cetane nothing happens at all.
 */
final class Metrics
{
    /**
     * Adds to a number that only grows.
     *
     * @param array<string, scalar|\Stringable|null> $labels by name; each of their values has a series of its own, so there should be few
     */
    public static function counter(string $name, int|float $by = 1, array $labels = []): void
    {
        self::measurements()?->count($name, $by, $labels);
    }

    /**
     * Sets a number that goes up and down. All workers share it: the last one to say something is right.
     *
     * @param array<string, scalar|\Stringable|null> $labels as for {@see counter()}
     */
    public static function gauge(string $name, int|float $value, array $labels = []): void
    {
        self::measurements()?->set($name, $value, $labels);
    }

    /**
     * Counts a value in its bucket.
     *
     * @param array<string, scalar|\Stringable|null> $labels as for {@see counter()}
     * @param list<int|float> $buckets upper bounds, above 0 and ascending; the same in all calls. Without them those for seconds: 0.005 to 10
     */
    public static function histogram(string $name, int|float $value, array $labels = [], array $buckets = []): void
    {
        self::measurements()?->observe($name, $value, $labels, $buckets);
    }

    private static function measurements(): ?Measurements
    {
        return (Worker::current() ?? (\getenv('CETANE_IN') === false ? null : Worker::connect()))?->measurements();
    }

    private function __construct()
    {
    }
}
