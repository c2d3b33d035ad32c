<?php

/*
 * dd() for a process that lives on. Loaded before Composer's autoloader, whose definition ends the process and steps back for this one.
 */

declare(strict_types=1);

use Cetane\Laravel\DumpAndDie;
use Cetane\Octane\OctanesDumpAndDie;
use Laravel\Octane\Exceptions\DdException;

if (!function_exists('dd')) {
    function dd(mixed ...$vars): never
    {
        throw class_exists(DdException::class) ? new OctanesDumpAndDie($vars) : new DumpAndDie($vars);
    }
}
