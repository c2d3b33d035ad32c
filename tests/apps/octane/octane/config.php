<?php

/* What the application's config/octane.php says nothing of; without the listeners nothing is reset. */

declare(strict_types=1);

use Laravel\Octane\Events\RequestReceived;
use Laravel\Octane\Events\WorkerErrorOccurred;

return [
    'server' => env('OCTANE_SERVER', 'cetane'),
    'max_execution_time' => 30,
    'warm' => ['auth', 'cache', 'cookie', 'db', 'encrypter', 'session', 'translator', 'url', 'view'],
    'watch' => ['app', 'routes'],
    'listeners' => [
        RequestReceived::class => ['prepare'],
        WorkerErrorOccurred::class => ['stop'],
    ],
];
