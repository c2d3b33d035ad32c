<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Cetane\Request;
use Cetane\Response;
use Cetane\Superglobals;
use Cetane\Symfony\ResponseFactory;
use Cetane\Worker;
use Throwable;

/**
 * Serves a Laravel application with the worker that this process is.
 *
 * Superglobals are filled for each request as under php-fpm. Functions that need a web SAPI (`header()`, `setcookie()`, `session_start()`) have no effect
 * under the cli SAPI; responses, cookies and sessions of Laravel do not use them.
 */
final class LaravelWorker
{
    private readonly Application $application;
    private readonly Superglobals $superglobals;

    /**
     * Boots the application in $basePath. This is the one place that chooses who drives it: laravel/octane's own worker is to be taken from here on where
     * the application has it.
     *
     * Does not return if the application cannot be booted: the supervisor is told why, and the process ends with code 1.
     *
     * @param string $basePath absolute path of the application's directory
     */
    public function __construct(private readonly Worker $worker, string $basePath)
    {
        try {
            $this->application = Application::boot($basePath);
        } catch (Throwable $problem) {
            // Not left to PHP: by now Laravel may have taken over what is uncaught, and would print a page.
            $worker->fail($problem);
            exit(1);
        }
        $this->superglobals = new Superglobals();
    }

    /**
     * Answers requests until the supervisor says stop.
     */
    public function run(): void
    {
        Worker::run($this->answer(...));
    }

    private function answer(Request $request): Response
    {
        $this->superglobals->fill($request);
        $isHead = $_SERVER['REQUEST_METHOD'] === 'HEAD';
        // Under the cli SAPI the status is kept from one request to the next, and an exit() would answer with it.
        http_response_code(200);
        $body = $request->bodyFile() === null ? $request->body() : $request->bodyStream();
        $laravelRequest = RequestFactory::create($_SERVER, $_GET, $_POST, $_COOKIE, $_FILES, $body);
        $_SERVER['VAR_DUMPER_FORMAT'] ??= 'html';

        $laravelResponse = null;
        $this->worker->afterResponse(function () use ($laravelRequest, &$laravelResponse): void {
            if ($laravelResponse !== null) {
                $this->application->terminate($laravelRequest, $laravelResponse);
            }
        });
        $this->worker->afterResponse(function (): void {
            try {
                $this->application->reset();
                $this->superglobals->clear();
            } catch (Throwable $problem) {
                $this->worker->retire();
                throw $problem;
            }
        });
        $laravelResponse = $this->application->handle($laravelRequest);

        return ResponseFactory::create($laravelResponse, $isHead, $this->problemInBody(...));
    }

    /** The dump of dd() ends the body; everything else fails the answer. */
    private function problemInBody(Throwable $problem): ?string
    {
        if ($problem instanceof DumpAndDie) {
            return $problem->dump;
        }
        $this->application->report($problem);

        return null;
    }
}
