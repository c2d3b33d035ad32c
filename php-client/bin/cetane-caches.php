<?php

/*
 * Tells where the Laravel application in the working directory keeps its caches, one `NAME=PATH` a line: it may have put them anywhere.
 */

declare(strict_types=1);

require 'vendor/autoload.php';
$app = require 'bootstrap/app.php';
echo "\ncetane-config=", $app->getCachedConfigPath();
// A configuration that was cached may be that of another place.
$_SERVER['APP_CONFIG_CACHE'] = '/nonexistent/config.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
echo "\ncetane-version=", $app->version(),
    "\ncetane-routes=", $app->getCachedRoutesPath(),
    "\ncetane-events=", $app->getCachedEventsPath(),
    "\ncetane-key=", (int) (bool) $app->make('config')->get('app.key'),
    "\ncetane-views=", $app->make('config')->get('view.compiled'),
    "\ncetane-storage=", $app->storagePath(), "\n";
