<?php

/* Answers each request with what it got, as JSON. ?sleep=milliseconds waits first, ?size=bytes answers so many bytes instead. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
while (true) {
    $request = receive_request();
    usleep(1000 * (int) query($request, 'sleep'));
    $size = (int) query($request, 'size');
    send($size > 0
        ? answer($request['number'], str_repeat('x', $size))
        : answer($request['number'], json_encode(['pid' => getmypid()] + $request, JSON_INVALID_UTF8_SUBSTITUTE), 'application/json'));
}
