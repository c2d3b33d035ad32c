<?php

/*
 * The front controller for servers that start PHP anew for every request: php-fpm, php -S. Cetane does not use it for this application.
 */

declare(strict_types=1);

use Illuminate\Contracts\Http\Kernel;
use Illuminate\Http\Request;

if (PHP_SAPI === 'cli-server' && is_file(__DIR__ . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH))) {
    return false;
}

require dirname(__DIR__) . '/vendor/autoload.php';

$app = require dirname(__DIR__) . '/bootstrap/app.php';
$kernel = $app->make(Kernel::class);

$response = $kernel->handle($request = Request::capture());
$response->send();
$kernel->terminate($request, $response);
