<?php

/* Announces a frame of 4 GiB. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number) . pack('CCnNN', 0xCE, 0x43, 0, 0xFFFFFFFF, $number) . 'a little');
while (true) {
    sleep(3600);
}
