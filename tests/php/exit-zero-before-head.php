<?php

/* Takes a request and exits with code 0. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
receive_request();
exit(0);
