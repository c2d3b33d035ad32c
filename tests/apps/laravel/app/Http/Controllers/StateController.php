<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use App\Support\ProcessCounter;
use App\Support\RequestHolder;
use Closure;
use Illuminate\Foundation\Bootstrap\HandleExceptions;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cookie;
use Illuminate\Support\Facades\DB;
use ReflectionFunction;

/**
 * State that belongs to one request, to one visitor or to the process: each answer says what is there, so that a test can see a leak.
 */
final class StateController
{
    public function counter(): JsonResponse
    {
        return response()->json(['pid' => getmypid(), 'requests' => ProcessCounter::current()]);
    }

    public function cookies(Request $request): JsonResponse
    {
        Cookie::queue('queued-one', $request->query('value', 'first'), 10);
        Cookie::queue('queued-two', 'second value; with = signs', 20);

        return response()
            ->json(['received' => $request->cookies->all()])
            ->cookie('direct', 'third', 30, '/', null, false, true, false, 'strict')
            ->withoutCookie('gone');
    }

    /**
     * `?set=` changes the locale and the configuration for this request.
     */
    public function locale(Request $request): JsonResponse
    {
        if (is_string($set = $request->query('set'))) {
            app()->setLocale($set);
            config(['app.name' => "Cetane in $set", 'demo.added' => $set]);
            date_default_timezone_set('Europe/Berlin');
        }

        return response()->json([
            'locale' => app()->getLocale(),
            'greeting' => __('demo.greeting'),
            'name' => config('app.name'),
            'added' => config('demo.added'),
            'timezone' => date_default_timezone_get(),
        ]);
    }

    public function leak(Request $request, RequestHolder $holder): JsonResponse
    {
        return response()->json([
            'given' => $request->query(),
            'held' => $holder->request->query(),
            'helper' => request()->query(),
            'url' => url()->full(),
        ]);
    }

    /**
     * What the process is like; `?change` changes all of it first. `?burn=` uses that many milliseconds of CPU time.
     */
    public function process(Request $request): JsonResponse
    {
        if ($request->has('change')) {
            $this->changeProcess();
        }
        for ($until = self::cpuMicros() + 1000 * (int) $request->query('burn'); self::cpuMicros() < $until;);

        return response()->json([
            'settings' => [ini_get('memory_limit'), ini_get('precision'), ini_get('max_execution_time'), error_reporting(), get_include_path()],
            'handlers' => [self::isOfFramework(set_error_handler(null), restore_error_handler(...)),
                self::isOfFramework(set_exception_handler(null), restore_exception_handler(...))],
            'environment' => [getenv('DEMO_OF_REQUEST'), $_ENV['DEMO_OF_REQUEST'] ?? null, $_SERVER['DEMO_OF_REQUEST'] ?? null],
            'locale' => [setlocale(LC_ALL, '0'), date_default_timezone_get(), mb_internal_encoding(), mb_substitute_character()],
            'files' => [umask(), getcwd()],
            'libxml' => libxml_use_internal_errors(),
            'transactions' => DB::connection()->transactionLevel(),
        ]);
    }

    private function changeProcess(): void
    {
        ini_set('memory_limit', '1G');
        ini_set('precision', '5');
        set_time_limit(1);
        error_reporting(E_ERROR);
        set_include_path('/nowhere');
        set_error_handler(static fn (): bool => true);
        set_error_handler(static fn (): bool => true);
        set_exception_handler(static fn () => null);
        putenv('DEMO_OF_REQUEST=1');
        $_ENV['DEMO_OF_REQUEST'] = $_SERVER['DEMO_OF_REQUEST'] = '1';
        setlocale(LC_ALL, 'C.UTF-8');
        date_default_timezone_set('Asia/Tokyo');
        mb_internal_encoding('ISO-8859-1');
        mb_substitute_character(0x2a);
        umask(0077);
        chdir('/');
        libxml_use_internal_errors(true);
        DB::connection()->beginTransaction();
        register_shutdown_function(static fn () => fwrite(STDERR, "the shutdown function of a request\n"));
    }

    private static function isOfFramework(?callable $handler, callable $restore): bool
    {
        $restore();

        return $handler instanceof Closure && (new ReflectionFunction($handler))->getClosureThis() instanceof HandleExceptions
            || is_array($handler) && $handler[0] instanceof HandleExceptions;
    }

    private static function cpuMicros(): int
    {
        return 1_000_000 * getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'];
    }
}
