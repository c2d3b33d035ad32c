<?php

declare(strict_types=1);

namespace Cetane\Tests\Symfony\Application;

/** State that Symfony resets between requests. */
final class Counter
{
    public int $value = 0;
    public int $untouched = 0;

    public function reset(): void
    {
        $this->value = 0;
        \error_log('reset');
    }
}
