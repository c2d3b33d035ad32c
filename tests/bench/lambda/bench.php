<?php

/*
 * Warm invocations, one at a time: `php tests/bench/lambda/bench.php [EVENTS]` gives the same event of an HTTP API to Cetane and to the floor, a bare PHP
 * loop, in turns, and prints the time from the event's last byte sent to the answer's last byte received.
 */

declare(strict_types=1);

$events = (int) ($argv[1] ?? 2000);
$cetane = dirname(__DIR__, 3) . '/core/target/cetane';
$programs = [
    'floor (bare PHP loop)' => ['php', '-d', 'opcache.enable_cli=1', __DIR__ . '/floor.php'],
    'cetane lambda, worker script' => ["$cetane/share/lambda/bootstrap"],
];
$event = json_encode(['version' => '2.0', 'rawPath' => '/', 'rawQueryString' => '', 'headers' => ['host' => 'shop.test', 'accept' => '*/*', 'user-agent' => 'bench'],
    'requestContext' => ['http' => ['method' => 'GET', 'path' => '/', 'protocol' => 'HTTP/1.1', 'sourceIp' => '192.0.2.1'], 'stage' => '$default'], 'isBase64Encoded' => false]);

/** Reads one HTTP message to its end. */
function message(mixed $api): string
{
    $head = '';
    $length = 0;
    while (($line = fgets($api)) !== false && trim($line) !== '') {
        $head .= $line;
        if (stripos($line, 'content-length:') === 0) {
            $length = (int) substr($line, 15);
        }
    }
    while ($length > 0 && !feof($api)) {
        $length -= strlen((string) fread($api, $length));
    }

    return $head;
}

/** @return array{0: mixed, 1: mixed} the process and its connection, with a /next read */
function start(array $command): array
{
    $server = stream_socket_server('tcp://127.0.0.1:0') ?: exit(1);
    $environment = ['PATH' => getenv('PATH'), 'AWS_LAMBDA_RUNTIME_API' => stream_socket_get_name($server, false), 'LAMBDA_TASK_ROOT' => __DIR__,
        '_HANDLER' => 'hello.php', 'CETANE_LOG_LEVEL' => 'warn', 'JAVA_HOME' => (string) getenv('JAVA_HOME')];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], STDERR], $pipes, null, $environment);
    $api = stream_socket_accept($server, 60) ?: exit(1);
    message($api);

    return [$process, $api];
}

/** @return list<float> milliseconds */
function run(mixed $api, string $event, int $count): array
{
    $times = [];
    for ($i = 0; $i < $count; $i++) {
        $deadline = (time() + 30) * 1000;
        $next = "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: event-$i\r\nLambda-Runtime-Deadline-Ms: $deadline\r\nContent-Length: " . strlen($event)
            . "\r\n\r\n$event";
        $begun = hrtime(true);
        fwrite($api, $next);
        $head = message($api);
        $times[] = (hrtime(true) - $begun) / 1e6;
        if (!str_contains($head, "/event-$i/response")) {
            fwrite(STDERR, "no answer but $head");
            exit(1);
        }
        fwrite($api, "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}");
        message($api);
    }

    return $times;
}

preg_match('/^model name\s*:\s*(.*)$/m', (string) file_get_contents('/proc/cpuinfo'), $cpu);
echo 'CPU: ', $cpu[1] ?? 'unknown', ', PHP ', PHP_VERSION, ", $events events each, in 4 turns\n";
$running = array_map(start(...), $programs);
$times = array_fill_keys(array_keys($programs), []);
foreach ($running as [, $api]) {
    run($api, $event, (int) ($events / 4)); // warms up
}
foreach ([0, 1, 1, 0] as $turn) {
    $order = $turn === 0 ? array_keys($programs) : array_reverse(array_keys($programs));
    foreach ($order as $name) {
        $times[$name] = [...$times[$name], ...run($running[$name][1], $event, (int) ($events / 4))];
    }
}
foreach ($times as $name => $all) {
    sort($all);
    printf("%-30s p50 %.3f ms   p99 %.3f ms\n", $name, $all[intdiv(count($all), 2)], $all[(int) (count($all) * 0.99)]);
}
foreach ($running as [$process, $api]) {
    proc_terminate($process);
    fclose($api);
    proc_close($process);
}
