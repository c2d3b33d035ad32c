<?php

/* Answers in pieces. */

declare(strict_types=1);

use Cetane\Request;
use Cetane\Response;
use Cetane\Worker;

Worker::run(static function (Request $request): Response {
    return match ($request->path()) {
        '/pieces' => new Response(
            202,
            ['Content-Type' => 'text/plain', 'Set-Cookie' => ['a=1', 'b=2'], 'Content-Length' => '14'],
            (static function () {
                yield "one\n";
                yield "two\n";
                yield "three\n";
            })(),
        ),
        '/empty' => new Response(200, [], ''),
        '/broken' => new Response(200, [], (static function () {
            yield "begun\n";
            throw new RuntimeException('half-way');
        })()),
    };
});
