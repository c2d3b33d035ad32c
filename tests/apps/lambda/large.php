<?php

/* Gives back what it got, or as many bytes as are asked for. */

declare(strict_types=1);

use Cetane\Request;
use Cetane\Response;
use Cetane\Worker;

Worker::run(static function (Request $request): Response {
    $binary = ['Content-Type' => 'application/octet-stream'];
    if ($request->path() === '/random') {
        return new Response(200, $binary, random_bytes((int) $request->query()['bytes']));
    }
    $files = $request->files();

    return new Response(200, $binary, $files === [] ? $request->body() : file_get_contents($files['f']['tmp_name']));
});
