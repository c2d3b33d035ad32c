<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Exception;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Support\Facades\Cache;
use Laravel\Octane\Contracts\DispatchesTasks;
use Laravel\Octane\Events\TickReceived;
use Swoole\Table;
use Throwable;

class Octane
{
    public static function formatExceptionForClient(Throwable $e, bool $debug = false): string
    {
        return $debug ? (string) $e : 'Internal server error.';
    }

    public function tasks()
    {
        return app(DispatchesTasks::class);
    }

    public function concurrently(array $tasks, int $waitMilliseconds = 3000)
    {
        return $this->tasks()->resolve($tasks, $waitMilliseconds);
    }

    public function tick(string $key, callable $callback, int $seconds = 1): void
    {
        app(Dispatcher::class)->listen(TickReceived::class, static function () use ($key, $callback, $seconds): void {
            $cache = Cache::store('octane');
            if (time() - $cache->get("tick-$key", 0) >= $seconds) {
                $cache->forever("tick-$key", time());
                $callback();
            }
        });
    }

    public function table(string $table): Table
    {
        throw new Exception("There are no tables without a server that has them; $table was asked for.");
    }
}
