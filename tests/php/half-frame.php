<?php

/* Sends half a frame and exits. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(substr(head($number) . data($number, 'a body that is cut'), 0, -6));
exit(0);
