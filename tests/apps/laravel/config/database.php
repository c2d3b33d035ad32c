<?php

declare(strict_types=1);

return [
    'default' => 'sqlite',
    'connections' => [
        'sqlite' => [
            'driver' => 'sqlite',
            'database' => storage_path('app/demo.sqlite'),
            'prefix' => '',
            'foreign_key_constraints' => true,
        ],
    ],
];
