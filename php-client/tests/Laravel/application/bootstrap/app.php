<?php

/*
 * The demo application with one more route, /probe, which runs whatever the test gave to Probe.
 */

declare(strict_types=1);

use Cetane\Tests\Laravel\Probe;
use Cetane\Tests\Laravel\ProbeController;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

$app = require dirname(__DIR__, 5) . '/tests/apps/laravel/bootstrap/app.php';

$app->booted(static function (Application $app): void {
    config(['logging.default' => 'null']);
    Route::any('/probe', static fn (Request $request): mixed => (Probe::$action)($request));
    Route::get('/probe/controller', [ProbeController::class, 'show']);
    (Probe::$boot)($app);
});

return $app;
