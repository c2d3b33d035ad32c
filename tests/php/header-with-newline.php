<?php

/* Puts a line break into a header field, as somebody would who smuggles a field in. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
while (true) {
    $number = receive_request()['number'];
    send(head($number, 2, ["X-Name: value\r\nSet-Cookie: smuggled=1"]) . data($number, 'hi') . end_and_done($number));
}
