<?php

declare(strict_types=1);

error_reporting(E_ALL);

require __DIR__ . '/../autoload.php';

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Cetane\\Tests\\')) {
        $file = __DIR__ . '/' . strtr(substr($class, 13), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
