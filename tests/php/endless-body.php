<?php

/* Streams until it is killed. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number));
while (true) {
    send(data($number, str_repeat('stream ', 8192)));
}
