<?php

/* A worker script as FrankenPHP documents it: nothing in it knows Cetane. */

declare(strict_types=1);

ignore_user_abort(true);

$booted = getmypid();

$handler = static function () use ($booted): void {
    switch (strtok($_SERVER['REQUEST_URI'], '?')) {
        case '/hints':
            header('Link: </style.css>; rel=preload; as=style');
            headers_send(103);
            header_remove('Link');
            echo 'hinted';
            break;
        case '/finish':
            echo 'finished';
            frankenphp_finish_request();
            echo 'dropped';
            break;
        case '/throw':
            throw new RuntimeException('thrown');
        case '/exit':
            http_response_code(418);
            exit('left');
        default:
            header('Content-Type: application/json');
            setcookie('seen', '1');
            echo json_encode([
                'booted' => $booted,
                'worker' => $_SERVER['FRANKENPHP_WORKER'] ?? null,
                'script' => $_SERVER['SCRIPT_NAME'],
                'query' => $_GET,
                'form' => $_POST,
                'cookies' => $_COOKIE,
                'input' => file_get_contents('php://input'),
            ]);
    }
};

$most = (int) ($_SERVER['MAX_REQUESTS'] ?? 0);
$served = 0;
do {
    $running = frankenphp_handle_request($handler);
    gc_collect_cycles();
} while ($running && ($most === 0 || ++$served < $most));
