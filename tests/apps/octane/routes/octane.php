<?php

/*
 * What applications under Octane were reported to do, one route each; see OctaneTest.
 */

declare(strict_types=1);

use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;
use Symfony\Component\HttpFoundation\Cookie;

Route::get('/memory', static function (): array {
    gc_collect_cycles();

    return ['pid' => getmypid(), 'bytes' => memory_get_usage()];
});
Route::get('/send-and-exit', static function (): never {
    response('sent by hand, ')->send();
    echo 'then printed';
    exit;
});
Route::get('/redirect-and-exit', static function (): never {
    redirect('/there')->header('X-Sent', 'by hand')->withCookie(cookie('kept', 'it is'))->send();
    exit;
});
Route::get('/php-header', static function () {
    header('X-Plain: of PHP');
    header('Content-Type: text/css');
    setcookie('plain', 'of PHP', ['samesite' => 'Strict']);

    return response('beside the response', 202, ['X-Response' => 'of Laravel', 'Content-Type' => 'text/plain']);
});
Route::get('/stdout', static function (): string {
    fwrite(STDOUT, "noise on the standard output\n");
    fwrite(STDERR, '{"type":"request","noise":true}' . "\n");

    return 'clean';
});
Route::get('/stream/typed', static fn () => response()->stream(static function (): Generator {
    yield 'typed ';
    echo 'and printed ';
    yield 'generator';
}));
Route::get('/stream/untyped', static fn () => response()->stream(static function () {
    yield 'untyped ';
    yield 'generator';
}));
Route::get('/stream/string', static fn () => response()->stream(static fn (): string => 'a returned string'));
Route::get('/stream/printed-before', static function () {
    echo 'printed before, ';

    return response()->stream(static fn () => print 'streamed');
});
Route::get('/stream/throws', static fn () => response()->stream(static function (): void {
    echo 'begun';
    flush();
    throw new RuntimeException('this exception cuts a stream');
}));
Route::get('/stream/dd', static fn () => response()->stream(static function (): void {
    echo 'begun';
    dd('dumped in a stream');
}));
Route::get('/stream/events', static fn () => response()->stream(static function (): void {
    try {
        for ($number = 0; !connection_aborted(); $number++) {
            echo "data: $number\n\n";
            ob_flush(); // without a look whether there is a buffer, as response()->eventStream() does
            flush(); // ends the callback, if it is the first to see that the client has left
            usleep(5000);
        }
    } finally {
        fwrite(STDERR, "the stream knows that its client has left\n");
    }
}, 200, ['Content-Type' => 'text/event-stream']))->middleware('log-after');
Route::get('/status/{status}', static fn (string $status) => response("status $status", (int) $status, ['X-MiXed-CaSe' => 'Kept']));
Route::get('/cookie-attributes', static function () {
    $response = response('cookies')
        ->cookie(new Cookie('first', 'one', 0, '/', null, true, true, false, 'none'))
        ->cookie(new Cookie('second', 'two', time() + 600, '/deep', 'example.org', false, false, false, 'strict'));
    $response->headers->set('Set-Cookie', 'third=3; Path=/; Secure', false);
    $response->headers->setCookie(new class ('fourth', '4', 0, '/', null, true) extends Cookie {
        // As later versions of Symfony write it.
        public function __toString(): string
        {
            return parent::__toString() . '; partitioned';
        }
    });

    return $response;
});
Route::get('/sendfile', static function (Request $request) {
    file_put_contents($path = storage_path('app/sent.txt'), 'sent in place of the body');

    return response('the body', 200, ['X-Sendfile' => $request->query('path', $path), 'Content-Type' => 'text/plain']);
});
Route::post('/upload-paths', static fn (Request $request): array => [
    'paths' => array_map(static fn (UploadedFile $file): string => $file->getPathname(), Illuminate\Support\Arr::flatten($request->allFiles())),
    'valid' => is_uploaded_file($_FILES['document']['tmp_name'] ?? ''),
]);
Route::get('/address', static fn (): array => ['url' => url('/deep')]);
Route::get('/environment', static fn (): array => [
    'octane' => $_SERVER['LARAVEL_OCTANE'] ?? null,
    'base' => $_SERVER['APP_BASE_PATH'] ?? null,
    'console' => app()->runningInConsole(),
    'env' => app()->environment(),
    'version' => getenv('HARNESS_VERSION'),
]);
Route::get('/octane-config', static fn (): array => [
    'pid' => getmypid(),
    'name' => config('app.name'),
    'listeners' => config('octane.listeners'),
    'providers' => array_keys(app()->getLoadedProviders()),
]);
Route::get('/state', static function (Request $request): array {
    if ($request->boolean('change')) {
        app()->instance('bound by a request', new stdClass());
    }
    $scoped = app('counted');

    return ['bound' => app()->bound('bound by a request'), 'scoped' => ++$scoped->uses];
});
Route::get('/database', static fn (): array => ['n' => (int) DB::connection('server')->selectOne('select 1 as n')->n]);
Route::get('/limit/{seconds?}', static function (Request $request, ?string $seconds = null): array {
    $granted = $seconds === null ? null : Cetane\TimeLimit::restart((float) $seconds);
    usleep(1000 * (int) $request->query('take'));

    return ['granted' => $granted];
});
Route::put('/put-raw', static fn (Request $request): array => ['input' => $request->all(), 'content' => $request->getContent()]);
