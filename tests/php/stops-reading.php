<?php

/* Reads its first request, and answers the later ones without reading them. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

const FIONREAD = 0x541B;

$path = getenv('CETANE_IN');
connect_and_ready();
$descriptor = 0;
foreach (scandir('/proc/self/fd') as $entry) {
    // The supervisor unlinks the FIFO once both ends are open: the name may end with " (deleted)".
    if (str_starts_with((string) @readlink("/proc/self/fd/$entry"), $path)) {
        $descriptor = (int) $entry;
    }
}
$libc = FFI::cdef('int ioctl(int fd, unsigned long request, int *count);');
$unread = static function () use ($libc, $descriptor): int {
    $count = $libc->new('int');
    $libc->ioctl($descriptor, FIONREAD, FFI::addr($count));

    return $count->cdata;
};

$number = receive_request()['number'];
send(answer($number, 'read'));
$before = 0;
while (true) {
    while (($now = $unread()) === $before) {
        usleep(500);
    }
    $before = $now;
    send(answer(++$number, 'guessed'));
}
