<?php

/*
 * Makes the look-alikes of laravel/octane's contracts available.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/contracts/' . strtr(substr($class, strlen('Laravel\\Octane\\')), '\\', '/') . '.php';
    if (str_starts_with($class, 'Laravel\\Octane\\') && is_file($file)) {
        require $file;
    }
});
