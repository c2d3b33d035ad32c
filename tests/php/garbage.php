<?php

/* Sends text where a frame is due. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
receive_request();
send("Warning: Undefined variable \$user in /app/index.php on line 1\n");
while (true) {
    sleep(3600);
}
