<?php

/* Keeps 10 MB more with each request (?megabytes= changes that). */

declare(strict_types=1);

require __DIR__ . '/raw.php';

ini_set('memory_limit', '-1');
connect_and_ready();
$leak = [];
while (true) {
    $request = receive_request();
    $leak[] = str_repeat('leak', 262_144 * (int) query($request, 'megabytes', '10'));
    send(answer($request['number'], (string) count($leak)));
}
