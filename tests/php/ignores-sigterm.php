<?php

/* Takes a request, never answers it, and does not leave on SIGTERM. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

pcntl_async_signals(true);
pcntl_signal(SIGTERM, SIG_IGN);
connect_and_ready();
receive_request();
while (true) {
    sleep(3600);
}
