<?php

/*
 * What each route shows is told in tests/apps/README.md.
 */

declare(strict_types=1);

use App\Http\Controllers\AccountController;
use App\Http\Controllers\FormController;
use App\Http\Controllers\PageController;
use App\Http\Controllers\StateController;
use App\Http\Controllers\StreamController;
use App\Http\Controllers\TroubleController;
use Illuminate\Support\Facades\Route;

// Without session and cookies.
Route::get('/hello', static fn () => response('Hello, world!', 200, ['Content-Type' => 'text/plain']));
Route::get('/json', static fn () => response()->json(['message' => 'Hello, world!']));
Route::get('/counter', [StateController::class, 'counter']);
Route::get('/leak', [StateController::class, 'leak']);
Route::get('/locale', [StateController::class, 'locale']);
Route::get('/process', [StateController::class, 'process']);
Route::match(['POST', 'PUT', 'PATCH', 'DELETE'], '/form', [FormController::class, 'form']);
Route::post('/upload', [FormController::class, 'upload']);
Route::any('/superglobals', [FormController::class, 'superglobals']);
Route::get('/stream', [StreamController::class, 'stream']);
Route::get('/generator', [StreamController::class, 'generator']);
Route::get('/big', [StreamController::class, 'big']);
Route::get('/download', [StreamController::class, 'download']);
Route::get('/slow', [TroubleController::class, 'slow']);
Route::get('/log', [TroubleController::class, 'log']);
Route::get('/terminate', static fn () => 'the log line follows')->middleware('log-after');

Route::middleware('web')->group(static function (): void {
    Route::get('/', [PageController::class, 'home']);
    Route::get('/bench', [PageController::class, 'bench']);
    Route::get('/login', [AccountController::class, 'login']);
    Route::get('/logout', [AccountController::class, 'logout']);
    Route::get('/me', [AccountController::class, 'me']);
    Route::get('/cookies', [StateController::class, 'cookies']);
    Route::get('/exception', [TroubleController::class, 'exception']);
    Route::get('/abort/{status}', [TroubleController::class, 'abort'])->whereNumber('status');
    Route::get('/fatal', [TroubleController::class, 'fatal']);
    Route::get('/oom', [TroubleController::class, 'outOfMemory']);
    Route::get('/exit', [TroubleController::class, 'exit']);
    Route::get('/dd', [TroubleController::class, 'dd']);
    Route::get('/dump', [TroubleController::class, 'dump']);
    Route::get('/echo', [TroubleController::class, 'echo']);
    Route::get('/echo-outside', static fn () => 'the response')->middleware('echo-after');
});
