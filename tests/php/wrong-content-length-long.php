<?php

/* Promises 5 bytes and sends 20. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number, 5) . data($number, 'more than it promised') . end_and_done($number));
while (true) {
    sleep(3600);
}
