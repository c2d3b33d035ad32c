<?php

/*
 * The script that the supervisor starts for front controllers (php-cgi) and for Laravel (php). The loop stands here, in global scope,
 * because the variables of a front controller are globals.
 */

declare(strict_types=1);

if (!class_exists(Cetane\Worker::class)) {
    require __DIR__ . '/../autoload.php';
}

(static function (): void {
    $worker = Cetane\Worker::connect();
    $application = (string) getenv('CETANE_APP');
    if (getenv('CETANE_BOOTED') !== false && is_dir($application)) {
        // The supervisor would say the same, but is not there yet: a directory is Laravel's.
        Cetane\Laravel\Launcher::boot($worker, $application)->run();
        exit;
    }
    $script = $worker->setting('script');
    switch ($worker->setting('kind')) {
        case 'front-controller':
            new Cetane\FrontController($worker, $script);
            break;
        case 'laravel':
            Cetane\Laravel\Launcher::boot($worker, $script)->run();
            exit;
        default:
            throw new RuntimeException("This script runs no application of kind '{$worker->setting('kind')}'.");
    }
})();

while (Cetane\FrontController::current()->begin()) {
    try {
        require Cetane\FrontController::current()->script;
    } catch (Throwable $throwable) {
        Cetane\FrontController::current()->fail($throwable);
        continue;
    }
    Cetane\FrontController::current()->finish();
}
