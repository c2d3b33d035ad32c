<?php

declare(strict_types=1);

namespace Laravel\Octane\Contracts;

interface DispatchesTasks
{
    public function resolve(array $tasks, int $waitMilliseconds = 3000): array;

    public function dispatch(array $tasks): void;
}
