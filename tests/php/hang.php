<?php

/* Takes a request and never answers it. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
receive_request();
while (true) {
    sleep(3600);
}
