<?php

/*
 * The demo application of tests/apps/laravel, under laravel/octane: classes, views and configuration are the demo's, providers of packages and some
 * routes come on top.
 */

declare(strict_types=1);

use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Foundation\PackageManifest;

$app = require dirname(__DIR__, 2) . '/laravel/bootstrap/app.php';
$app->setBasePath(dirname(__DIR__));
if (getenv('HARNESS_ENVIRONMENT') !== false) {
    $app->useEnvironmentPath(getenv('HARNESS_ENVIRONMENT'));
}
if (getenv('HARNESS_WITHOUT_PACKAGES') !== false) {
    $app->beforeBootstrapping(RegisterProviders::class, static function (Application $app): void {
        $app->make(PackageManifest::class)->manifest = [];
    });
}

return $app;
