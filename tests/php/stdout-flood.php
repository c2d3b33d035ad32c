<?php

/* Prints without end on both of its outputs while it answers; the lines are long, and some never end. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
while (true) {
    $number = receive_request()['number'];
    for ($line = 0; $line < 2000; $line++) {
        fwrite(STDOUT, "stdout $line " . str_repeat('x', 1000) . "\n");
        fwrite(STDERR, "stderr $line \x1b[31m" . str_repeat('y', 1000) . ($line % 10 === 0 ? '' : "\n"));
    }
    send(answer($number, 'flooded'));
}
