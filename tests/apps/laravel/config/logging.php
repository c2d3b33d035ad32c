<?php

declare(strict_types=1);

use Monolog\Handler\StreamHandler;

return [
    'default' => 'stderr',
    'deprecations' => 'null',
    'channels' => [
        'stderr' => ['driver' => 'monolog', 'handler' => StreamHandler::class, 'with' => ['stream' => 'php://stderr']],
        'null' => ['driver' => 'monolog', 'handler' => Monolog\Handler\NullHandler::class],
        // Laravel writes here when the channel above cannot be made.
        'emergency' => ['path' => 'php://stderr'],
    ],
];
