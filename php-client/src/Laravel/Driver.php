<?php

declare(strict_types=1);

namespace Cetane\Laravel;

/**
 * A booted Laravel application that takes the requests of this process.
 */
interface Driver
{
    /**
     * Answers requests until the supervisor says stop.
     */
    public function run(): void;
}
