<?php

// Does what the request's path says; the misbehaviours that the pool must survive.

declare(strict_types=1);

require __DIR__ . '/wire.php';

$wire = new Wire();
$wire->ready();
$served = 0;
$kept = '';
while (($server = $wire->request()) !== null) {
    $served++;
    $path = $server['REQUEST_URI'];
    switch ($path) {
        case '/pid':
            $wire->answer((string) getmypid());
            break;
        case '/count':
            $wire->answer((string) $served);
            break;
        case '/die-before-head':
            posix_kill(getmypid(), SIGKILL);
            break;
        case '/die-after-head':
            $wire->head(200, 10);
            $wire->data('half');
            posix_kill(getmypid(), SIGKILL);
            break;
        case '/die-after-end':
            $wire->head(200, 4);
            $wire->data('full');
            $wire->end();
            posix_kill(getmypid(), SIGKILL);
            break;
        case '/die-in-frame':
            $wire->head(200, -1);
            $wire->raw("\xCE\x43\0\0\0\0\0");
            posix_kill(getmypid(), SIGKILL);
            break;
        case '/exit':
            fwrite(STDERR, "last words\n");
            exit(3);
        case '/exit-clean':
            exit(0);
        case '/last':
            $wire->head(200, 3);
            $wire->data('bye');
            $wire->end();
            $wire->done(true);
            exit(0);
        case '/hang':
            while (true) {
                sleep(1000);
            }
        case '/hang-ignoring-term':
            pcntl_signal(SIGTERM, SIG_IGN);
            while (true) {
                sleep(1000);
            }
        case '/hang-after-end':
            $wire->head(200, 0);
            $wire->end();
            while (true) {
                sleep(1000);
            }
        case '/fork-and-die':
            if (pcntl_fork() === 0) {
                while (true) {
                    sleep(1000);
                }
            }
            posix_kill(getmypid(), SIGKILL);
            break;
        case '/garbage':
            $wire->raw('this is no frame');
            sleep(1000);
            break;
        case '/huge-length':
            $wire->raw("\xCE\x42\0\0\xFF\xFF\xFF\xFF\0\0\0\1");
            sleep(1000);
            break;
        case '/too-short':
            $wire->head(200, 10);
            $wire->data('short');
            $wire->end();
            sleep(1000);
            break;
        case '/exception':
            $wire->send(0x47, "\x01" . 'it broke');
            $wire->done();
            break;
        case '/fatal':
            $wire->send(0x47, "\x02" . 'out of memory');
            $wire->done(true);
            exit(255);
        case '/close-pipe':
            $wire->close();
            sleep(1000);
            break;
        case '/flood':
            for ($i = 0; $i < 20000; $i++) {
                fwrite(STDOUT, "line $i\n");
            }
            $wire->answer('flooded');
            break;
        case '/print':
            fwrite(STDOUT, 'printed by ' . $server['HTTP_X_ID'] . "\n");
            $wire->answer('');
            break;
        case '/long-line':
            fwrite(STDOUT, str_repeat('x', 100000) . "\n");
            $wire->answer('');
            break;
        case '/allocate':
            $kept = str_repeat('x', 64 << 20);
            $wire->answer((string) getmypid());
            break;
        case '/big':
            $wire->head(200, 4 << 20);
            for ($i = 0; $i < 64; $i++) {
                $wire->data(str_repeat(chr(65 + $i % 26), 65536));
            }
            $wire->end();
            $wire->done();
            break;
        case '/wait-for-cancel':
            $wire->head(200);
            $wire->data('waiting');
            [$type] = $wire->read();
            $wire->data($type === 0x03 ? 'cancelled' : "type $type");
            $wire->end();
            $wire->done();
            break;
        default:
            $wire->answer('hello');
    }
}
exit(0);
