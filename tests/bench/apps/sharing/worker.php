<?php

/* Does operations on a shared table, or tasks, and answers with what they took, as JSON. */

declare(strict_types=1);

use Cetane\Request;
use Cetane\SharedTable;
use Cetane\Tasks;
use Cetane\Worker;

$table = SharedTable::open('bench', 1000, ['value' => 'string:200', 'expiration' => 'int', 'count' => 'int'], true, 'expiration');

function sleepsFor100Milliseconds(): void
{
    usleep(100_000);
}

$row = ['value' => str_repeat('v', 100), 'expiration' => 4_000_000_000, 'count' => 0];
$operations = [
    'put' => static fn (int $i) => $table->set('k' . $i % 100, $row),
    'get' => static fn (int $i) => $table->get('k' . $i % 100),
    'increment' => static fn (int $i) => $table->increment('k' . $i % 100, 'count'),
    'tasks' => static fn (int $i) => Tasks::resolve(['sleepsFor100Milliseconds', 'sleepsFor100Milliseconds']),
];

Worker::run(static function (Request $request) use ($operations): string {
    parse_str($request->server()['QUERY_STRING'], $query);
    $operation = $operations[$query['operation'] ?? 'get'];
    $times = (int) ($query['times'] ?? 1);
    $nanos = [];
    for ($i = 0; $i < $times; $i++) {
        $started = hrtime(true);
        $operation($i);
        $nanos[] = hrtime(true) - $started;
    }
    sort($nanos);

    return json_encode(['p50' => $nanos[intdiv($times, 2)], 'p99' => $nanos[(int) ($times * 0.99)], 'max' => $nanos[$times - 1], 'sum' => array_sum($nanos)]);
});
