<?php

/* Answers a request that is not running. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
send(answer(receive_request()['number'] + 1, 'for somebody else'));
while (true) {
    sleep(3600);
}
