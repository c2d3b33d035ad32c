<?php

declare(strict_types=1);

$config = require dirname(__DIR__, 2) . '/laravel/config/app.php';
$config['providers'][] = App\Octane\HarnessServiceProvider::class;

return $config;
