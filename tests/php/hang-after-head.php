<?php

/* Sends the head and a piece of the body, and nothing more. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number) . data($number, 'the first half'));
while (true) {
    sleep(3600);
}
