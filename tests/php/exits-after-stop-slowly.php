<?php

/* Takes 700 milliseconds to leave after STOP, and says so. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

register_shutdown_function(static function (): void {
    usleep(700_000);
    fwrite(STDERR, "shutdown code has run\n");
});
connect_and_ready();
while (true) {
    send(answer(receive_request()['number'], 'hello'));
}
