<?php

/* What each request of the memory test does: a bit of everything that leaves something behind where nobody takes it away. */

function memory_serve(): void
{
    static $leak = [];
    header('Content-Type: text/plain');
    header('X-Number: ' . ($_GET['n'] ?? ''));
    setcookie('number', $_GET['n'] ?? '');
    if (isset($_COOKIE['PHPSESSID'])) {
        session_start();
        $_SESSION['number'] = $_GET['n'];
    }
    ob_start(static fn (string $printed): string => strrev($printed));
    echo count($_GET) + count($_POST) + count($_COOKIE) + count($_FILES) + count($_REQUEST) + count(getallheaders());
    foreach ($_FILES as $file) {
        echo md5_file($file['tmp_name']), is_uploaded_file($file['tmp_name']);
    }
    echo md5(file_get_contents('php://input'));
    ob_end_clean();
    if (!isset($_SERVER['FRANKENPHP_WORKER'])) { // there they run when the script ends, and pile up
        register_shutdown_function(static fn (): int => 1);
    }
    set_error_handler(static fn (): bool => true);
    restore_error_handler();
    ini_set('precision', '10');
    ini_restore('precision');
    putenv('MEMORY_TEST=' . ($_GET['n'] ?? ''));
    putenv('MEMORY_TEST');
    if (isset($_GET['leak'])) {
        $leak[] = random_bytes(64);
    }
    echo memory_get_usage();
}
