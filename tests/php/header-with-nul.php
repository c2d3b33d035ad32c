<?php

/* Puts a NUL byte into a header field: by the rules of the protocol that makes two lines of it, the second without a colon. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
while (true) {
    $number = receive_request()['number'];
    send(head($number, 2, ["X-Name: va\0lue"]) . data($number, 'hi') . end_and_done($number));
}
