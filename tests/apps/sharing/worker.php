<?php

/*
 * A worker without a framework that uses what workers share, see SharingTest.
 */

declare(strict_types=1);

use Cetane\Request;
use Cetane\SharedTable;
use Cetane\TaskFailed;
use Cetane\Tasks;
use Cetane\TaskTimeout;
use Cetane\Worker;

$numbers = SharedTable::open('numbers', 100, ['n' => 'int', 'f' => 'float', 's' => 'string:1000000']);
$small = SharedTable::open('small', 3, ['s' => 'string:5']);
$recent = SharedTable::open('recent', 3, ['at' => 'int', 'until' => 'int'], true, 'until');

function slow(): int
{
    usleep(100_000);

    return getmypid();
}

function large(): string
{
    return str_repeat('r', 200_000);
}

function fails(): never
{
    throw new DomainException('not today', 7);
}

function dies(): never
{
    posix_kill(getmypid(), 9);
    sleep(60);
    exit;
}

function leaves(): never
{
    exit(0);
}

function hangs(): never
{
    sleep(60);
    exit;
}

function nested(): array
{
    return Tasks::resolve(['a' => 'slow', 'b' => 'slow']);
}

/** Takes more room than one frame has. */
final class Heavy
{
    public function __construct(private readonly string $weight)
    {
    }

    public function __invoke(): int
    {
        return strlen($this->weight);
    }
}

function answer(Request $request, SharedTable $numbers, SharedTable $small, SharedTable $recent): mixed
{
    parse_str($request->server()['QUERY_STRING'], $query);
    switch (explode('?', $request->server()['REQUEST_URI'])[0]) {
        case '/pid':
            return getmypid();
        case '/crash':
            posix_kill(getmypid(), 9);
            sleep(60);
            // no break
        case '/add':
            for ($i = 0; $i < (int) $query['times']; $i++) {
                $numbers->increment('sum', 'n', 3);
                $numbers->decrement('sum', 'f', 0.5);
            }

            return $numbers->get('sum');
        case '/row':
            return $numbers->get($query['key']);
        case '/large':
            $numbers->set('large', ['s' => str_repeat("\0\xFF", 400_000)]);

            return ['md5' => md5($numbers->get('large')['s']), 'expected' => md5(str_repeat("\0\xFF", 400_000))];
        case '/limits':
            $set = [];
            foreach (['a' => '1234', 'b' => '12345', 'c' => '123456', 'd' => '', 'e' => ''] as $key => $value) {
                try {
                    $set[$key] = $small->set($key, ['s' => $value]);
                } catch (InvalidArgumentException $problem) {
                    $set[$key] = $problem->getMessage();
                }
            }
            $small->delete('a');

            return ['set' => $set, 'again' => $small->set('e', ['s' => 'e']), 'count' => count($small), 'long key' => tooLongKey($small)];
        case '/recent':
            foreach (['a', 'b', 'c'] as $at => $key) {
                $recent->set($key, ['at' => $at, 'until' => time() + 60]);
            }
            $recent->get('a');
            $recent->set('d', ['at' => 3, 'until' => time() + 60]);
            $recent->set('past', ['at' => 4, 'until' => time() - 1]);

            return ['rows' => array_keys(iterator_to_array($recent)), 'past' => $recent->get('past')];
        case '/scan':
            $numbers->clear();
            $numbers->setMany(array_map(static fn (int $i): array => ['n' => $i, 's' => str_repeat('x', 2000)], range(0, 99)));
            $sum = 0;
            foreach ($numbers as $key => $row) {
                $sum += $row['n'];
                (int) $key % 2 === 0 && $numbers->delete((string) $key);
            }

            return ['sum' => $sum, 'left' => count($numbers), 'many' => array_keys($numbers->getMany(['0', '1', '2', '3']))];
        case '/dispatch':
            Tasks::dispatch([new Increment('dispatched'), new Increment('dispatched')]);

            return 'dispatched';
        case '/tasks':
            $tasks = array_map(
                static fn (string $name): callable => $name === 'heavy' ? new Heavy(str_repeat('h', 200_000)) : $name,
                array_filter(explode(',', $query['run'])),
            );
            $started = hrtime(true);
            try {
                $results = Tasks::resolve($tasks, (int) ($query['wait'] ?? 10_000));
            } catch (TaskFailed $problem) {
                return ['failed' => $problem->getMessage(), 'class' => $problem->class, 'code' => $problem->getCode()];
            } catch (TaskTimeout $problem) {
                return ['timeout' => $problem->getMessage()];
            }

            return [
                'results' => array_map(static fn (mixed $result): mixed => is_string($result) ? strlen($result) : $result, $results),
                'millis' => (hrtime(true) - $started) / 1e6,
            ];
    }

    return null;
}

function tooLongKey(SharedTable $table): string
{
    try {
        $table->set(str_repeat('k', SharedTable::KEY_BYTES + 1), []);
    } catch (InvalidArgumentException $problem) {
        return $problem->getMessage();
    }

    return 'taken';
}

/** Counts that it has run. */
final class Increment
{
    public function __construct(private readonly string $key)
    {
    }

    public function __invoke(): void
    {
        SharedTable::open('numbers', 100, ['n' => 'int', 'f' => 'float', 's' => 'string:1000000'])->increment($this->key, 'n');
    }
}

Worker::connect()->onTick(static fn () => $numbers->set('ticked', ['n' => getmypid()]) && $numbers->increment('ticks', 'n'));
Worker::run(static fn (Request $request): string => json_encode(answer($request, $numbers, $small, $recent), JSON_PRESERVE_ZERO_FRACTION));
