<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Foundation\Bootstrap\SetRequestForConsole;

final class ApplicationFactory
{
    public function __construct(private readonly string $basePath)
    {
    }

    public function createApplication(array $initialInstances = []): Application
    {
        $app = require "$this->basePath/bootstrap/app.php";
        array_walk($initialInstances, static fn (mixed $instance, string $name) => $app->instance($name, $instance));
        $app->beforeBootstrapping(RegisterProviders::class, static fn (Application $app) => (new SetRequestForConsole())->bootstrap($app));
        $app->make(Kernel::class)->bootstrap();
        $app->loadDeferredProviders();
        foreach ($app->make('config')->get('octane.warm', []) as $service) {
            $app->make($service);
        }

        return $app;
    }
}
