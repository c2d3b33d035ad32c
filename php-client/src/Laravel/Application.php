<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Cetane\Laravel\Lambda\Sandbox;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Foundation\Application as LaravelApplication;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Foundation\Bootstrap\SetRequestForConsole;
use Illuminate\Http\Request;
use RuntimeException;
use Symfony\Component\HttpFoundation\Response;
use Throwable;

/**
 * A Laravel application, version 8.83 to 13, that is booted once and answers one request after the other.
 *
 * For each request: {@see handle()}, send the response, {@see terminate()}, {@see reset()}. {@see BootState} says what of a request's state is
 * reset and what stays.
 */
final class Application
{
    /** Garbage roots from which on cycles are collected between requests, well below the 10 001 at which PHP does it within one. */
    private const GARBAGE_ROOTS = 5000;

    private function __construct(
        private readonly LaravelApplication $app,
        private readonly Kernel $kernel,
        private readonly BootState $state,
    ) {
    }

    /**
     * Loads `vendor/autoload.php` and `bootstrap/app.php` below $basePath and boots the application with its HTTP kernel.
     *
     * @param string $basePath absolute path of the application's directory
     *
     * @throws RuntimeException if one of the two files is missing or gives no application
     * @throws Throwable        whatever the application throws while it boots
     */
    public static function boot(string $basePath): self
    {
        self::load($basePath);
        $app = require "$basePath/bootstrap/app.php";
        if (!$app instanceof LaravelApplication) {
            throw new RuntimeException("$basePath/bootstrap/app.php must return the application, it returned " . get_debug_type($app) . '.');
        }
        if (Sandbox::isHere()) {
            Sandbox::prepare($app);
        }
        // Under php-fpm providers find a request when they boot; here they find one made from app.url.
        $app->beforeBootstrapping(RegisterProviders::class, static function (LaravelApplication $app): void {
            (new SetRequestForConsole())->bootstrap($app);
        });
        $kernel = $app->make(Kernel::class);
        $kernel->bootstrap();
        if (Sandbox::isHere()) {
            Sandbox::booted($app);
        }

        return new self($app, $kernel, BootState::capture($app));
    }

    /**
     * Loads the classes of the application in $basePath, as for a process that serves HTTP whatever its SAPI: no console error pages, HTML dumps,
     * a `dd()` that ends the request and not the process.
     *
     * @throws RuntimeException if the directory is no application that can run
     */
    public static function load(string $basePath): void
    {
        foreach (['vendor/autoload.php', 'bootstrap/app.php'] as $file) {
            if (!is_file("$basePath/$file")) {
                throw new RuntimeException("$basePath is no Laravel application that can run: $file is missing. Was `composer install` run there?");
            }
        }
        $_ENV['APP_RUNNING_IN_CONSOLE'] = false;
        $_SERVER['VAR_DUMPER_FORMAT'] ??= 'html';
        require_once __DIR__ . '/dump.php';
        require_once "$basePath/vendor/autoload.php";
    }

    public function laravel(): LaravelApplication
    {
        return $this->app;
    }

    /**
     * Answers $request. What the application prints meanwhile is the beginning of the answer's body; before a file it goes to PHP's error log, since the length
     * of such an answer is settled.
     *
     * @throws Throwable what escapes Laravel's own exception handler
     */
    public function handle(Request $request): Response
    {
        $level = ob_get_level();
        ob_start();
        try {
            $response = $this->kernel->handle($request);
        } finally {
            $printed = '';
            while (ob_get_level() > $level) {
                $printed = ob_get_clean() . $printed;
            }
        }
        if ($printed !== '') {
            Printed::before($printed, $response);
        }

        return $response;
    }

    /**
     * Runs terminable middleware and terminating callbacks. The client should have its answer.
     *
     * @throws Throwable what they throw
     */
    public function terminate(Request $request, Response $response): void
    {
        $this->kernel->terminate($request, $response);
    }

    /**
     * Puts the application back to where it was after boot, whatever happened since, and collects garbage where enough of it is there.
     *
     * @throws Throwable if that is not possible: the application is then in an unknown state and must not be used again
     */
    public function reset(): void
    {
        $this->state->restore();
        if (gc_status()['roots'] > self::GARBAGE_ROOTS) {
            gc_collect_cycles();
        }
    }

    /**
     * Tells Laravel's exception handler about a problem that did not pass through it, such as one in a streamed body.
     */
    public function report(Throwable $problem): void
    {
        $this->app->make(ExceptionHandler::class)->report($problem);
    }
}
