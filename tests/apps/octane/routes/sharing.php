<?php

/*
 * What only Swoole has elsewhere: tasks, tables, the cache of Octane, ticks; see OctaneSharingTest.
 */

declare(strict_types=1);

use Cetane\Metrics;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\Facades\DB;
use Laravel\Octane\Exceptions\TaskException;
use Laravel\Octane\Exceptions\TaskTimeoutException;

Route::get('/measured', static function (): string {
    Metrics::counter('signups', labels: ['plan' => 'free']);
    $thumbnail = static fn () => Metrics::counter('thumbnails');
    app('octane')->concurrently([$thumbnail, $thumbnail]);

    return 'measured';
});

Route::get('/tasks/{tasks}', static function (Request $request, string $tasks): array {
    $config = 'seen by the closure';
    $known = [
        'pid' => static fn (): int => getmypid(),
        'slow' => static function (): string {
            usleep(100_000);

            return 'slow';
        },
        'sleep' => static fn (): int => sleep(60),
        'bound' => static fn (): string => $config,
        'throw' => static fn () => throw new DomainException('not today', 7),
        'kill' => static fn () => posix_kill(getmypid(), 9),
        'exit' => static fn () => exit(0),
        'memory' => static fn () => str_repeat('x', 1 << 40),
        'closure' => static fn (): Closure => static fn () => 1,
        'big' => static fn (): string => str_repeat('b', 300_000),
        'nested' => static fn (): array => app('octane')->concurrently(['a' => static fn () => 1, 'b' => static fn () => 2]),
        'database' => static fn (): int => App\Models\Article::query()->count(),
    ];
    $connection = DB::connection()->getPdo();
    $known['connection'] = static fn (): bool => $connection->inTransaction();
    $heavy = new App\Octane\Heavy();
    $known['unserialise'] = static fn (): string => $heavy::class;
    $started = hrtime(true);
    try {
        $named = $tasks === 'none' ? [] : explode(',', $tasks);
        $results = app('octane')->concurrently(
            array_combine(array_map(static fn (int $i, string $name): string => "$name-$i", array_keys($named), $named), array_map(
                static fn (string $name): Closure => $known[$name],
                $named,
            )),
            (int) $request->query('wait', '5000'),
        );
    } catch (TaskException $problem) {
        return ['class' => $problem->getClass(), 'message' => $problem->getMessage(), 'code' => $problem->getCode()];
    } catch (TaskTimeoutException $problem) {
        return ['timeout' => $problem->getMessage()];
    } catch (Exception $problem) {
        return ['class' => $problem::class, 'message' => $problem->getMessage()];
    }

    return [
        'results' => array_map(static fn (mixed $result): mixed => is_string($result) && strlen($result) > 99 ? strlen($result) : $result, $results),
        'millis' => (hrtime(true) - $started) / 1e6,
        'pid' => getmypid(),
    ];
});
Route::get('/dispatch', static function (): string {
    app('octane')->tasks()->dispatch([static fn () => Cache::store('octane')->increment('dispatched')]);

    return 'dispatched';
});
Route::get('/table/{key}', static function (string $key): array {
    $table = app('octane')->table('visits');
    $table->incr($key, 'count', 2);
    $table->decr($key, 'count');
    $table->set($key, ['page' => "page $key", 'share' => 0.5, 'unknown' => 1]);
    $table["$key-2"] = ['count' => 41];
    $table->incr("$key-2", 'count');
    unset($table["$key-3"]);
    $keys = [];
    foreach ($table as $found => $row) {
        $keys[$found] = $row['count'];
    }
    ksort($keys);

    return [
        'row' => $table->get($key), 'field' => $table->get($key, 'page'), 'second' => $table["$key-2"], 'keys' => $keys,
        'absent' => [$table->get('absent'), $table->get('absent', 'page'), isset($table['absent']), $table->exist('absent'), $table->del('absent')],
        'class' => $table::class, 'size' => $table->getSize(), 'count' => count($table),
    ];
});
Route::get('/count/{key}/{times}', static function (string $key, int $times): array {
    for ($i = 0; $i < $times; $i++) {
        app('octane')->table('visits')->incr($key, 'count');
        Cache::store('octane')->increment($key);
    }

    return ['pid' => getmypid()];
});
Route::get('/counted/{key}', static fn (string $key): array => [
    'table' => app('octane')->table('visits')->get($key, 'count'), 'cache' => Cache::store('octane')->get($key),
]);
Route::get('/cache', static function (Request $request): array {
    $cache = Cache::store('octane');
    $cache->put('kept', ['a' => 1], 60);
    $cache->put('gone', 'x', -1);
    $cache->putMany(['m1' => 1, 'm2' => 2], 60);
    $seen = [
        'kept' => $cache->get('kept'), 'gone' => $cache->get('gone'), 'many' => $cache->many(['m1', 'm2', 'm3']),
        'added' => [$cache->add('once', 1, 60), $cache->add('once', 2, 60), $cache->get('once')], 'decremented' => $cache->decrement('m2', 5),
        'forgotten' => [$cache->forget('kept'), $cache->get('kept')],
    ];
    try {
        $cache->put('long', str_repeat('x', 10_001), 60);
        $seen['long'] = 'stored';
    } catch (Throwable $problem) {
        $seen['long'] = $problem::class;
    }
    for ($i = 0; $i < 200; $i++) {
        $cache->put("evicts-$i", $i, 60);
    }

    return $seen + ['last' => $cache->get('evicts-199'), 'first' => $cache->get('evicts-0'), 'flushed' => [$cache->flush(), $cache->get('evicts-199')]];
});
Route::get('/ticks', static fn (): array => [
    'ticks' => Cache::store('octane')->get('ticks'), 'interval' => Cache::store('octane')->get('now-and-then'), 'now' => time(),
]);
