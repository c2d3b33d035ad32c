<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Cetane\Octane\OctaneWorker;
use Cetane\Worker;
use Laravel\Octane\Worker as OctanesWorker;
use Throwable;

/**
 * Boots a Laravel application for the worker that this process is, with the driver that it has: laravel/octane's where that is installed, else our own.
 */
final class Launcher
{
    /**
     * Does not return if the application cannot be booted: the supervisor is told why, and the process ends with code 1.
     *
     * @param string $basePath absolute path of the application's directory
     */
    public static function boot(Worker $worker, string $basePath): Driver
    {
        try {
            Application::load($basePath);

            return class_exists(OctanesWorker::class) ? new OctaneWorker($worker, $basePath) : new LaravelWorker($worker, $basePath);
        } catch (Throwable $problem) {
            // Not left to PHP: by now Laravel may have taken over what is uncaught, and would print a page.
            $worker->fail($problem);
            exit(1);
        }
    }

    private function __construct()
    {
    }
}
