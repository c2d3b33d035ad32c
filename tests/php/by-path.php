<?php

/* Behaves until a request's path tells it otherwise: for tests that need one misbehaviour among good requests. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

connect_and_ready();
$served = 0;
$kept = [];
while (true) {
    $request = receive_request();
    $number = $request['number'];
    $served++;
    switch ($request['server']['REQUEST_URI'] ?? '/') {
        case '/pid':
            send(answer($number, (string) getmypid()));
            break;
        case '/count':
            send(answer($number, (string) $served));
            break;
        case '/file':
            send(answer($number, __DIR__));
            break;
        case '/die-before-head':
            posix_kill(getmypid(), 9);
            break;
        case '/die-after-head':
            send(head($number) . data($number, 'half'));
            posix_kill(getmypid(), 9);
            break;
        case '/die-after-head-with-length':
            send(head($number, 100) . data($number, 'half'));
            posix_kill(getmypid(), 9);
            break;
        case '/die-after-end':
            send(head($number, 4) . data($number, 'full') . frame(0x45, $number));
            posix_kill(getmypid(), 9);
            break;
        case '/exit-with-last-words':
            fwrite(STDERR, "last words\n");
            exit(3);
        case '/exit-zero':
            exit(0);
        case '/last':
            send(head($number, 3) . data($number, 'bye') . end_and_done($number, true));
            exit(0);
        case '/hang':
            sleep(3600);
            break;
        case '/fork-and-die':
            if (pcntl_fork() === 0) {
                sleep(3600);
            }
            posix_kill(getmypid(), 9);
            break;
        case '/leave-child':
            $child = pcntl_fork();
            if ($child === 0) {
                sleep(3600);
            }
            send(answer($number, (string) $child));
            break;
        case '/exception':
            send(frame(0x47, $number, "\x01" . 'it broke') . done($number));
            break;
        case '/exception-after-head':
            send(head($number) . data($number, 'half') . frame(0x47, $number, "\x01" . 'it broke') . done($number));
            break;
        case '/fatal':
            send(frame(0x47, $number, "\x02" . 'out of memory') . done($number, true));
            exit(255);
        case '/close-pipes':
            fclose($GLOBALS['out']);
            fclose($GLOBALS['in']);
            sleep(3600);
            break;
        case '/print':
            fwrite(STDOUT, "printed by {$request['server']['HTTP_X_ID']}\n");
            send(answer($number, ''));
            break;
        case '/allocate':
            $kept[] = str_repeat('x', 64 << 20);
            send(answer($number, (string) getmypid()));
            break;
        case '/big':
            send(head($number, 4 << 20));
            for ($i = 0; $i < 64; $i++) {
                send(data($number, str_repeat(chr(65 + $i % 26), 65536)));
            }
            send(end_and_done($number));
            break;
        case '/until-cancelled':
            send(head($number) . data($number, 'waiting'));
            $frame = receive();
            send(data($number, $frame['type'] === 0x03 ? ', cancelled' : ', got something else') . end_and_done($number));
            break;
        default:
            send(answer($number, 'hello'));
    }
}
