<?php

/* Takes 1.5 seconds to get ready, then behaves. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect();
usleep(1_500_000);
ready();
while (true) {
    send(answer(receive_request()['number'], 'booted'));
}
