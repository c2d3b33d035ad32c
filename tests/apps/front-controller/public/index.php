<?php

/*
 * A plain application for the end-to-end tests: one path for each thing that a front controller may do. It knows nothing of Cetane.
 */

declare(strict_types=1);

if (!function_exists('json')) {
    function json(mixed $value): void
    {
        header('Content-Type: application/json');
        echo json_encode($value, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
    }
}

switch (strtok($_SERVER['REQUEST_URI'], '?')) {
    case '/superglobals':
        json(['get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'request' => $_REQUEST, 'server' => $_SERVER]);
        break;
    case '/input':
        json(['length' => strlen(file_get_contents('php://input')), 'sha1' => sha1(file_get_contents('php://input'))]);
        break;
    case '/session':
        session_start();
        $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
        $_SESSION['name'] ??= $_GET['name'] ?? null;
        json(['id' => session_id(), 'visits' => $_SESSION['visits'], 'name' => $_SESSION['name']]);
        break;
    case '/answer':
        http_response_code(418);
        header('X-Once: first');
        header('X-Once: second');
        header('X-Twice: one');
        header('X-Twice: two', false);
        setcookie('plain', 'value');
        setcookie('other', 'ä;=', ['expires' => 0, 'path' => '/answer', 'httponly' => true, 'samesite' => 'Lax']);
        echo 'short and stout';
        break;
    case '/redirect':
        header('Location: /elsewhere');
        break;
    case '/not-modified':
        http_response_code(304);
        break;
    case '/plain':
        header('Content-Type: text/plain');
        json(['status' => http_response_code(), 'headers' => headers_list(), 'sent' => headers_sent()]);
        break;
    case '/stream':
        header('Content-Type: text/plain');
        foreach (['one', 'two', 'three'] as $word) {
            echo "$word\n";
            ob_flush(); // php.ini has output_buffering on
            flush();
            // The test releases the next piece when it has this one.
            while ($word !== 'three' && !file_exists("{$_GET['signals']}/after-$word")) {
                usleep(1000);
            }
        }
        break;
    case '/big':
        header('Content-Type: application/octet-stream');
        for ($i = 0; $i < (int) $_GET['mb'] * 16; $i++) {
            echo str_repeat(chr(65 + $i % 26), 65536);
        }
        break;
    case '/finish':
        header('Content-Type: text/plain');
        echo 'the whole answer';
        fastcgi_finish_request();
        while (!file_exists("{$_GET['signals']}/go-on")) {
            usleep(1000);
        }
        error_log('worked after the answer');
        break;
    case '/exit':
        http_response_code((int) ($_GET['status'] ?? 200));
        header('X-Before: exit');
        echo 'printed before exit';
        exit((int) ($_GET['code'] ?? 0));
    case '/die':
        header('Content-Type: text/plain');
        die('printed by die');
    case '/exception':
        throw new DomainException('the secret of the exception');
    case '/exception-after-output':
        echo str_repeat('x', 100);
        throw new DomainException('the secret of the exception');
    case '/fatal':
        $undefined = 'no_such_function_anywhere';
        $object = new stdClass();
        (static fn (int $number) => $number)(...[$object]);
        break;
    case '/oom':
        ini_set('memory_limit', '32M');
        str_repeat('x', 100 << 20);
        break;
    case '/compile-error':
        include __DIR__ . '/../syntax-error.php';
        break;
    case '/loop':
        ini_set('max_execution_time', '1');
        set_time_limit(1);
        while (true) {
            // CPU time counts, sleep does not.
        }
    case '/print-and-warn':
        header('Content-Type: text/plain');
        error_log('said to the error log');
        trigger_error('a notice of the application', E_USER_NOTICE);
        fwrite(fopen('php://stderr', 'w'), "written to stderr\n");
        echo 'only this is the answer';
        break;
    case '/dump':
        var_dump(['answer' => 42]);
        break;
    case '/state':
        // What the request before has left in the process.
        json([
            'pid' => getmypid(),
            'leftover' => isset($leftover),
            'ob' => ob_get_level(),
            'time limit' => ini_get('max_execution_time'),
            'cwd' => getcwd(),
            'status' => http_response_code(),
            'headers' => headers_list(),
            'session' => session_status(),
        ]);
        $leftover = 'a global variable';
        ob_start();
        chdir('/');
        http_response_code(201);
        header('X-Leftover: yes');
        break;
    case '/pid':
        header('Content-Type: text/plain');
        echo getmypid();
        break;
    default:
        http_response_code(404);
        echo 'not found';
}
