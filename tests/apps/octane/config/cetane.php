<?php

/*
 * Cetane for Laravel. Publish with: php artisan vendor:publish --tag=cetane-config
 */

declare(strict_types=1);

return [

    /*
     * The cetane command: a name that is looked for on the PATH, or a path.
     */
    'command' => env('CETANE_COMMAND', 'cetane'),

    /*
     * Where `cetane:start` notes its server for `cetane:reload`, `cetane:stop` and `cetane:status`. Servers that share a volume need a file each.
     */
    'state_file' => env('CETANE_STATE_FILE', storage_path('logs/cetane-server-state.json')),

    /*
     * Settings of the server by their keys, as in cetane.yaml; they win over that file, and over what `cetane:start` makes of config/octane.php and
     * of its own options. `cetane check --print` lists all keys.
     */
    'settings' => [
        // 'ops.listen' => '127.0.0.1:9180',
        // 'pool.max-memory' => '256MiB',
        // 'http.trusted-proxies' => '10.0.0.0/8',
    ],

    /*
     * Directories below which a response may ask for a file by the header X-Sendfile.
     */
    'sendfile' => [
        storage_path('app'),
    ],

    /*
     * For applications without laravel/octane: what to resolve during boot so that no request has to, and what of that to make anew for each request.
     * With laravel/octane the lists in config/octane.php count.
     */
    'warm' => [],
    'flush' => [],

];
