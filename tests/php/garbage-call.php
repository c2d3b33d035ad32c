<?php

/* Asks the supervisor for what is no operation. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
ready('call');
send(frame(0x49, receive_request()['number'], "\x66garbage"));
while (true) {
    sleep(3600);
}
