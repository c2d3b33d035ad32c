<?php

declare(strict_types=1);

namespace App\Support;

/**
 * Counts the requests of this PHP process. Static on purpose: under php-fpm it is always 1, in a persistent worker it grows.
 */
final class ProcessCounter
{
    private static int $requests = 0;

    public static function next(): void
    {
        self::$requests++;
    }

    public static function current(): int
    {
        return self::$requests;
    }
}
