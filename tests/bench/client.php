<?php

/*
 * What the PHP client costs a request: CPU time of the worker's process (from /proc, the kernel's part included) for a request of about
 * 1 kB with 23 variables and an answer of 2 bytes, beside a loop of bare fread, unpack and fwrite. Run by hand: php tests/bench/client.php
 */

declare(strict_types=1);

use Cetane\Tests\Support\ScriptedSupervisor;

$client = __DIR__ . '/../../php-client';
require "$client/tests/bootstrap.php";

const ROUNDS = 7;
const REQUESTS = 4000;

$server = [
    'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/hello?x=1', 'QUERY_STRING' => 'x=1', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REMOTE_ADDR' => '127.0.0.1',
    'REMOTE_PORT' => '40000', 'SERVER_ADDR' => '127.0.0.1', 'SERVER_PORT' => '80', 'SERVER_NAME' => 'localhost', 'HTTP_HOST' => 'localhost',
    'SCRIPT_NAME' => '/index.php',
];
for ($i = 0; $i < 12; $i++) {
    $server["HTTP_X_HEADER_$i"] = str_repeat('v', 30);
}

$handlers = [
    'bare loop' => 'require "' . __DIR__ . '/../php/raw.php"; connect_and_ready(); while (true) { $n = receive()["number"]; send(answer($n, "hi")); }',
    'Worker::run' => 'Cetane\Worker::run(fn () => new Cetane\Response(200, ["Content-Type" => "text/plain"], "hi"));',
    'Worker::run, $request->server()' => 'Cetane\Worker::run(fn ($r) => new Cetane\Response(200, [], (string) count($r->server())));',
    'wait and respond' => '$w = Cetane\Worker::connect(); while ($w->wait()) { $w->respond(new Cetane\Response(200, [], "hi")); }',
    'front controller' => 'echo "hi";',
];
foreach ($handlers as $name => $code) {
    $supervisor = new ScriptedSupervisor();
    $script = $supervisor->file('script.php', "<?php $code");
    if ($name === 'front controller') {
        $supervisor->start("$client/bin/cetane-worker.php", [], 'php-cgi')->hello(['kind' => 'front-controller', 'script' => $script]);
    } else {
        $supervisor->start($script, ['-d', 'opcache.enable_cli=1', '-d', "auto_prepend_file=$client/autoload.php"])->hello();
    }
    $supervisor->next();
    $cpu = static fn (): float => (int) file_get_contents("/proc/{$supervisor->pid()}/schedstat") / 1000;
    $micros = [];
    for ($round = 0; $round < ROUNDS; $round++) {
        for ($i = 0; $i < 500; $i++) {
            $supervisor->exchange($server);
        }
        $before = $cpu();
        for ($i = 0; $i < REQUESTS; $i++) {
            $supervisor->exchange($server);
        }
        $micros[] = ($cpu() - $before) / REQUESTS;
    }
    sort($micros);
    printf("%-32s %5.1f µs (median of %d rounds, best %.1f)\n", $name, $micros[intdiv(ROUNDS, 2)], ROUNDS, $micros[0]);
    $supervisor->close();
}
