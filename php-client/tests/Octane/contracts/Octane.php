<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Throwable;

class Octane
{
    public static function formatExceptionForClient(Throwable $e, bool $debug = false): string
    {
        return $debug ? (string) $e : 'Internal server error.';
    }
}
