<?php

/* Calls again and again and reads no reply: each call reads a table's size. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
ready('call');
$number = receive_request()['number'];
send(frame(0x49, $number, "\x10\0\xFF\0\0\0\x0A\1\1\0\0\0\0\1at"));
receive();
while (true) {
    // One at a time, so that the reply to the last one is there and it is no call out of turn.
    send(frame(0x49, $number, "\x16\0\0"));
    usleep(2000);
}
