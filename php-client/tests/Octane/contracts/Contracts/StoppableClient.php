<?php

declare(strict_types=1);

namespace Laravel\Octane\Contracts;

interface StoppableClient extends Client
{
    public function stop(): void;
}
