<?php

/* Asks a request for everything that a request can be asked. */

use Cetane\Request;
use Cetane\Response;
use Cetane\Worker;

Worker::run(static function (Request $request): Response {
    static $leak = [];
    $seen = [$request->server(), $request->query(), $request->form(), $request->files(), $request->cookies(), $request->headers()];
    $seen[] = stream_get_contents($request->bodyStream());
    foreach ($request->files() as $file) {
        $seen[] = md5_file($file['tmp_name']);
    }
    Worker::current()->afterResponse(static fn (): int => count($seen));
    if (isset($request->query()['leak'])) {
        $leak[] = random_bytes(64);
    }

    return new Response(200, ['Content-Type' => 'text/plain', 'X-Number' => $request->query()['n'] ?? ''], (string) memory_get_usage());
});
