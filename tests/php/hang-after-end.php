<?php

/* Answers, and never becomes idle again. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number, 4) . data($number, 'done') . frame(0x45, $number));
while (true) {
    sleep(3600);
}
