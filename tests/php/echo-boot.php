<?php

/* Prints on both outputs while it boots, then behaves. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

echo "echo while booting\n";
fwrite(STDERR, "error output while booting\n");
connect_and_ready();
while (true) {
    $number = receive_request()['number'];
    echo "echo in a request, without a line end";
    send(answer($number, 'booted'));
}
