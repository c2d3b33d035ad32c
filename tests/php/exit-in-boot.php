<?php

/* Exits with code 0 before it is ready. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
exit(0);
