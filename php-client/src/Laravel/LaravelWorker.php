<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Cetane\Laravel\Lambda\DatabaseSessions;
use Cetane\Laravel\Lambda\Sandbox;
use Cetane\ProcessState;
use Cetane\Request;
use Cetane\Response;
use Cetane\Shutdown;
use Cetane\Superglobals;
use Cetane\Symfony\ResponseFactory;
use Cetane\Worker;
use Throwable;

/**
 * Serves a Laravel application without laravel/octane: {@see BootState} resets it after each request, {@see ProcessState} its process.
 *
 * Superglobals are filled for each request as under php-fpm, and `header()` and `setcookie()` add fields to the response. PHP's own sessions
 * (`session_start()`) have no cookie under the cli SAPI; those of Laravel do not use them.
 */
final class LaravelWorker implements Driver
{
    private readonly Application $application;
    private readonly Superglobals $superglobals;
    private readonly ProcessState $state;
    private readonly ?DatabaseSessions $databaseSessions;

    /**
     * Boots the application in $basePath.
     *
     * @param string $basePath absolute path of the application's directory
     *
     * @throws Throwable whatever the application throws while it boots
     */
    public function __construct(private readonly Worker $worker, string $basePath)
    {
        $this->application = Application::boot($basePath);
        $this->superglobals = new Superglobals(isBooted: true);
        $this->databaseSessions = Sandbox::isHere() ? DatabaseSessions::ofEnvironment() : null;
        $this->state = ProcessState::ofBooted($worker);
    }

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

        $this->databaseSessions?->begin($this->application->laravel());
        $laravelResponse = null;
        $this->worker->afterResponse(function () use ($laravelRequest, &$laravelResponse): void {
            if ($laravelResponse !== null) {
                $this->application->terminate($laravelRequest, $laravelResponse);
            }
        });
        $this->worker->afterResponse(Shutdown::current()->functions->run(...));
        $this->worker->afterResponse(function (): void {
            try {
                $this->application->reset();
                $this->databaseSessions?->end($this->application->laravel());
                $this->state->restore($this->superglobals->clear());
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
