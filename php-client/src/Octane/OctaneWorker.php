<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\Laravel\Driver;
use Cetane\Laravel\Lambda\DatabaseSessions;
use Cetane\Laravel\Lambda\Sandbox;
use Cetane\Laravel\OpenTransactions;
use Cetane\ProcessState;
use Cetane\Request;
use Cetane\Shutdown;
use Cetane\Tasks;
use Cetane\Worker;
use Closure;
use Illuminate\Foundation\Application;
use Laravel\Octane\ApplicationFactory;
use Laravel\Octane\OctaneServiceProvider;
use Laravel\Octane\RequestContext;
use Laravel\Octane\Worker as OctanesWorker;
use RuntimeException;
use Throwable;

/**
 * Serves a Laravel application through laravel/octane's own worker: what of the application's state is reset is Octane's business, by the listeners of
 * config/octane.php. The process is put back in place besides, and transactions that are left open are rolled back.
 */
final class OctaneWorker implements Driver
{
    /** Garbage roots from which on cycles are collected between requests, well below the 10 001 at which PHP does it within one. */
    private const GARBAGE_ROOTS = 5000;

    private readonly OctanesWorker $octane;
    private readonly OctaneClient $client;
    private readonly ProcessState $state;
    private readonly Closure $keepTerminatingCallbacks;
    private readonly ?DatabaseSessions $databaseSessions;

    /**
     * Boots the application in $basePath, whose classes are loaded.
     *
     * @param string $basePath absolute path of the application's directory
     *
     * @throws RuntimeException if the application has Octane but not its service provider, without which nothing would reset it
     * @throws Throwable        whatever the application throws while it boots
     */
    public function __construct(private readonly Worker $worker, string $basePath)
    {
        foreach (['LARAVEL_OCTANE' => '1', 'APP_BASE_PATH' => $basePath] as $name => $value) {
            putenv("$name=$value");
            $_ENV[$name] = $_SERVER[$name] = $value;
        }
        $this->client = new OctaneClient($worker);
        $this->octane = new OctanesWorker(
            Sandbox::isHere() ? new SandboxApplicationFactory($basePath) : new ApplicationFactory($basePath),
            $this->client,
        );
        $this->octane->boot($this->initialInstances());
        if ($this->octane->application()->getProvider(OctaneServiceProvider::class) === null) {
            throw new RuntimeException(
                'laravel/octane is installed, but ' . OctaneServiceProvider::class . ' is not registered, so nothing would reset the application '
                . 'between requests. Register it, or remove the package: Cetane serves Laravel without it.'
            );
        }
        $application = $this->octane->application();
        $this->keepTerminatingCallbacks = (function (): Closure {
            $kept = $this->terminatingCallbacks;

            return function () use ($kept): void {
                $this->terminatingCallbacks = $kept;
            };
        })->bindTo($application, Application::class)();
        $this->databaseSessions = Sandbox::isHere() ? DatabaseSessions::ofEnvironment() : null;
        $this->takeJobs();
        $this->state = ProcessState::ofBooted($worker);
    }

    public function run(): void
    {
        while ($request = $this->worker->wait()) {
            $this->answer($request);
        }
        $this->octane->terminate();
    }

    private function answer(Request $request): void
    {
        $this->databaseSessions?->begin($this->octane->application());
        try {
            $this->octane->handle(...$this->client->marshalRequest(new RequestContext(['cetaneRequest' => $request])));
        } catch (Throwable $problem) {
            // A listener of Octane's has failed, or its way back to the root application.
            $this->worker->retire();
            $this->worker->failAnswer($problem);
        }
        $this->cleanUp();
        // Before the supervisor hears that the request is over, from when on the sandbox may be frozen.
        $this->databaseSessions?->end($this->octane->application());
        if ($this->worker->isAnswered()) {
            $this->worker->finish();
        }
    }

    private function cleanUp(): void
    {
        try {
            Shutdown::current()->functions->run();
        } catch (Throwable $problem) {
            $this->worker->log('error', (string) $problem);
        }
        $hadSession = $this->client->forgetRequest();
        OpenTransactions::rollBack($this->octane->application());
        // Laravel 9 gives the root application one for each view engine that Octane makes anew, so one a page.
        ($this->keepTerminatingCallbacks)();
        $this->state->restore($hadSession);
        if (gc_status()['roots'] > self::GARBAGE_ROOTS) {
            gc_collect_cycles();
        }
    }

    /** Has Octane run tasks and ticks, where the supervisor sends any. */
    private function takeJobs(): void
    {
        $application = $this->octane->application();
        $this->worker->onTask(function (string $task): string {
            try {
                return serialize($this->octane->handleTask(Tasks::unpack($task)));
            } finally {
                $this->cleanUp();
            }
        });
        if ($application->make('config')->get('octane.tick', true)) {
            $this->worker->onTick(function (): void {
                $this->octane->handleTick();
                $this->cleanUp();
            });
        }
        if (Sharing::isPossible()) {
            Sharing::open($application);
        }
    }

    /**
     * What is in the container before the application boots.
     *
     * @return array<string, object>
     */
    private function initialInstances(): array
    {
        return Sharing::isPossible() ? Sharing::instances() : [];
    }
}
