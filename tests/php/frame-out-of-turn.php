<?php

/* Sends a body before the head. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
send(data(receive_request()['number'], 'too early'));
while (true) {
    sleep(3600);
}
