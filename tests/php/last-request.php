<?php

/* Answers one request, says that it was the last one, and exits with code 0. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number, 4) . data($number, 'last') . end_and_done($number, true));
exit(0);
