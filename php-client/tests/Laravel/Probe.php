<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Closure;

/**
 * Brings code of a test into the application that it tests.
 */
final class Probe
{
    /** @var Closure(\Illuminate\Http\Request): mixed runs as the route /probe */
    public static Closure $action;

    /** @var Closure(\Illuminate\Foundation\Application): void runs when the application has booted */
    public static Closure $boot;
}
