<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Illuminate\Support\ServiceProvider;

/** Adds a package's own configuration, package.php below the application, to that of the application. */
class PackageProvider extends ServiceProvider
{
    protected string $key = 'package';

    public function register(): void
    {
        $this->mergeConfigFrom($this->app->basePath('package.php'), $this->key);
    }
}
