<?php

/*
 * Stands where Composer would put its autoloader: the demo application's classes, our look-alike of laravel/octane (or the real one, whose src directory
 * OCTANE_SOURCE names), and cetane/worker where no supervisor has loaded it.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $directories = [
        'App\\Octane\\' => [dirname(__DIR__) . '/app'],
        'Laravel\\Octane\\' => getenv('OCTANE_SOURCE') !== false
            ? [getenv('OCTANE_SOURCE')]
            : [dirname(__DIR__) . '/octane', dirname(__DIR__, 4) . '/php-client/tests/Octane/contracts'],
    ];
    foreach ($directories as $prefix => $places) {
        if (str_starts_with($class, $prefix)) {
            foreach ($places as $place) {
                $file = $place . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
                if (is_file($file)) {
                    require $file;

                    return;
                }
            }
        }
    }
});

require_once dirname(__DIR__, 2) . '/laravel/vendor/autoload.php';

if (!class_exists(Cetane\Worker::class)) {
    require_once dirname(__DIR__, 4) . '/php-client/autoload.php';
}
