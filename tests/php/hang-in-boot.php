<?php

/* Never gets ready. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
while (true) {
    sleep(3600);
}
