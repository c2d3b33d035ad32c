<?php

/* Exits with code 3 in the middle of each request, before it has sent anything. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
receive_request();
exit(3);
