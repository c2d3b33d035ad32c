<?php

/*
 * dd() for a process that lives on. Loaded before Composer's autoloader, whose definition ends the process and steps back for this one.
 */

declare(strict_types=1);

use Cetane\Laravel\DumpAndDie;

if (!function_exists('dd')) {
    function dd(mixed ...$vars): never
    {
        throw new DumpAndDie($vars);
    }
}
