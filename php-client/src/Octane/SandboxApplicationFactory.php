<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\Laravel\Lambda\Sandbox;
use Illuminate\Foundation\Application;
use Laravel\Octane\ApplicationFactory;

/**
 * Octane's factory, for AWS Lambda.
 *
 * @internal
 */
final class SandboxApplicationFactory extends ApplicationFactory
{
    /**
     * @param array<string, object> $initialInstances
     */
    public function bootstrap(Application $app, array $initialInstances = []): Application
    {
        Sandbox::prepare($app);

        $app = parent::bootstrap($app, $initialInstances);
        Sandbox::booted($app);

        return $app;
    }
}
