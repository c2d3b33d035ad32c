<?php

/* Promises 20 bytes and sends 5. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number, 20) . data($number, 'short') . end_and_done($number));
while (true) {
    sleep(3600);
}
