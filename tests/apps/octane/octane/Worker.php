<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Closure;
use Illuminate\Container\Container;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;
use Laravel\Octane\Contracts\Client;
use Laravel\Octane\Contracts\Worker as WorkerContract;
use Laravel\Octane\Events\RequestHandled;
use Laravel\Octane\Events\RequestReceived;
use Laravel\Octane\Events\RequestTerminated;
use Laravel\Octane\Events\TaskReceived;
use Laravel\Octane\Events\TaskTerminated;
use Laravel\Octane\Events\TickReceived;
use Laravel\Octane\Events\TickTerminated;
use Laravel\Octane\Events\WorkerErrorOccurred;
use Laravel\Octane\Events\WorkerStarting;
use Laravel\Octane\Events\WorkerStopping;
use Throwable;

/**
 * A worker that keeps Octane's contract with a driver: each operation runs in a clone of the application; the client gets the response before
 * anything is terminated; what escapes becomes the client's error() unless it has answered, and WorkerErrorOccurred in any case.
 */
final class Worker implements WorkerContract
{
    private Application $app;

    public function __construct(private readonly ApplicationFactory $factory, private readonly Client $client)
    {
    }

    public function boot(array $initialInstances = []): void
    {
        $this->app = $this->factory->createApplication([Client::class => $this->client] + $initialInstances);
        $this->app->make('events')->dispatch(new WorkerStarting($this->app));
    }

    public function application(): Application
    {
        return $this->app;
    }

    public function handle(Request $request, RequestContext $context): void
    {
        $this->inSandbox(function (Application $sandbox) use ($request, $context): void {
            $answered = false;
            try {
                [$response, $printed] = $this->response($sandbox, $request);
                $this->client->respond($context, new OctaneResponse($response, $printed));
                $answered = true;
                $sandbox->make(Kernel::class)->terminate($request, $response);
                $sandbox->make('events')->dispatch(new RequestTerminated($this->app, $sandbox, $request, $response));
                $request->route()?->flushController();
            } catch (Throwable $error) {
                $answered || $this->client->error($error, $sandbox, $request, $context);
                $sandbox->make('events')->dispatch(new WorkerErrorOccurred($error, $sandbox));
            }
        });
        array_map($this->app->make('view.engine.resolver')->forget(...), ['blade', 'php']);
    }

    public function handleTask($data)
    {
        return $this->inSandbox(function (Application $sandbox) use ($data): mixed {
            $sandbox->make('events')->dispatch(new TaskReceived($this->app, $sandbox, $data));
            $result = $data();
            $sandbox->make('events')->dispatch(new TaskTerminated($this->app, $sandbox, $data, $result));

            return $result;
        });
    }

    public function handleTick(): void
    {
        $this->inSandbox(function (Application $sandbox): void {
            $sandbox->make('events')->dispatch(new TickReceived($this->app, $sandbox));
            $sandbox->make('events')->dispatch(new TickTerminated($this->app, $sandbox));
        });
    }

    public function terminate(): void
    {
        $this->app->make('events')->dispatch(new WorkerStopping($this->app));
    }

    /** @return array{\Symfony\Component\HttpFoundation\Response, string} the response and what was printed; the buffer stays open if there is none */
    private function response(Application $sandbox, Request $request): array
    {
        ob_start();
        $sandbox->make('events')->dispatch(new RequestReceived($this->app, $sandbox, $request));
        $response = $sandbox->make(Kernel::class)->handle($request);
        $sandbox->make('events')->dispatch(new RequestHandled($sandbox, $request, $response));

        return [$response, (string) ob_get_clean()];
    }

    private function inSandbox(Closure $operation): mixed
    {
        self::makeCurrent($sandbox = clone $this->app);
        try {
            return $operation($sandbox);
        } finally {
            $sandbox->flush();
            self::makeCurrent($this->app);
        }
    }

    private static function makeCurrent(Application $app): void
    {
        $app->instance('app', $app);
        $app->instance(Container::class, $app);
        Container::setInstance($app);
        Facade::clearResolvedInstances();
        Facade::setFacadeApplication($app);
    }
}
