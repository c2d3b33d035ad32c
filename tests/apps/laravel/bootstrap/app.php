<?php

/*
 * Makes the application. Everything it writes goes below one directory: storage/, or DEMO_STORAGE where the code is read-only
 * or another user runs it.
 */

declare(strict_types=1);

$storage = getenv('DEMO_STORAGE') ?: dirname(__DIR__) . '/storage';

foreach (['app', 'framework/cache/data', 'framework/sessions', 'framework/views'] as $directory) {
    if (!is_dir("$storage/$directory") && !@mkdir("$storage/$directory", 0777, true) && !is_dir("$storage/$directory")) {
        throw new RuntimeException(
            "The directory $storage/$directory could not be made by user id " . getmyuid() . '. Set DEMO_STORAGE to a writable directory.'
        );
    }
}

foreach (['SERVICES', 'PACKAGES', 'CONFIG', 'ROUTES', 'EVENTS'] as $cache) {
    $_ENV["APP_{$cache}_CACHE"] ??= "$storage/framework/" . strtolower($cache) . '.php';
}

$app = new Illuminate\Foundation\Application(dirname(__DIR__));
$app->useStoragePath($storage);

$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);

return $app;
