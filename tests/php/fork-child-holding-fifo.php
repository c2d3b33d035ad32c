<?php

/* Leaves a child behind that holds both FIFOs and outlives it; ?exit makes the worker itself exit in the middle of a request. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
while (true) {
    $request = receive_request();
    $child = pcntl_fork();
    if ($child === 0) {
        sleep(60);
        posix_kill(getmypid(), 9);
    }
    if (str_contains($request['server']['QUERY_STRING'] ?? '', 'exit')) {
        exit(4);
    }
    send(answer($request['number'], (string) $child));
}
