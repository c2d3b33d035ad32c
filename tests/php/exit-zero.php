<?php

/* Answers one request, then exits with code 0 without having said so. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
send(answer(receive_request()['number'], 'goodbye'));
exit(0);
