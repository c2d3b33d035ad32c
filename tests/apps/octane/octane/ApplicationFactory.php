<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Foundation\Bootstrap\SetRequestForConsole;

/** Makes the application; a server may put in what it has to say before the application is bootstrapped, or after it is warm. */
class ApplicationFactory
{
    public function __construct(protected string $basePath)
    {
    }

    public function createApplication(array $initialInstances = []): Application
    {
        return $this->warm($this->bootstrap(require "$this->basePath/bootstrap/app.php", $initialInstances));
    }

    public function bootstrap(Application $app, array $initialInstances = []): Application
    {
        array_walk($initialInstances, static fn (mixed $instance, string $name) => $app->instance($name, $instance));
        $app->beforeBootstrapping(RegisterProviders::class, static fn (Application $app) => (new SetRequestForConsole())->bootstrap($app));
        $app->make(Kernel::class)->bootstrap();
        $app->loadDeferredProviders();

        return $app;
    }

    public function warm(Application $app, array $services = []): Application
    {
        array_map($app->make(...), $services ?: $app->make('config')->get('octane.warm', []));

        return $app;
    }
}
