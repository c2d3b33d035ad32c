<?php

/* Reports that it cannot boot. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
send(frame(0x47, 0, "\x03" . 'The database password is not set.'));
exit(1);
