<?php

/*
 * Stands where Composer would put its autoloader: Debian's php-laravel-framework brings its own, this file joins them with the classes of App\.
 * LARAVEL_SOURCE names a directory with the Illuminate/autoload.php of another Laravel.
 */

declare(strict_types=1);

if (getenv('LARAVEL_SOURCE') !== false) {
    set_include_path(getenv('LARAVEL_SOURCE') . PATH_SEPARATOR . get_include_path());
}

if (stream_resolve_include_path('Illuminate/autoload.php') === false) {
    throw new RuntimeException(
        'Laravel was not found on the include path (' . get_include_path() . '). On Debian 12: apt-get install php-laravel-framework'
    );
}

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'App\\')) {
        $file = dirname(__DIR__) . '/app/' . strtr(substr($class, 4), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});

require_once 'Illuminate/autoload.php';
