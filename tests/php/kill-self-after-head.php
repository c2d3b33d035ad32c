<?php

/* Kills itself with SIGKILL in the middle of the body. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$number = receive_request()['number'];
send(head($number) . data($number, 'the first half'));
posix_kill(getmypid(), 9);
