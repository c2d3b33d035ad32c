<?php

/* What Symfony's runtimes for FrankenPHP do: superglobals in, Response::send() out, terminate between the calls, a limit of their own. */

declare(strict_types=1);

use Cetane\Tests\Symfony\Application\Kernel;
use Symfony\Component\HttpFoundation\Request;

require_once 'Symfony/Bundle/FrameworkBundle/autoload.php';
foreach (['Kernel', 'Controller', 'Counter', 'Terminated'] as $class) {
    require __DIR__ . "/$class.php";
}

$kernel = new Kernel($_SERVER['APP_ENV'], (bool) $_SERVER['APP_DEBUG']);
ignore_user_abort(true);
$server = array_filter($_SERVER, static fn (string $name): bool => !str_starts_with($name, 'HTTP_'), ARRAY_FILTER_USE_KEY);
$request = $response = null;
$handler = static function () use ($kernel, $server, &$request, &$response): void {
    $_SERVER += $server;
    $request = Request::createFromGlobals();
    $response = $kernel->handle($request);
    $response->send();
};
$loops = 0;
do {
    $running = frankenphp_handle_request($handler);
    if ($running && $request !== null && $response !== null) {
        $kernel->terminate($request, $response);
    }
    gc_collect_cycles();
} while ($running && ++$loops < (int) ($_SERVER['FRANKENPHP_LOOP_MAX'] ?? 500));
