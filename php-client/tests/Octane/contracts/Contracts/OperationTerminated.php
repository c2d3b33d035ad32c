<?php

declare(strict_types=1);

namespace Laravel\Octane\Contracts;

use Illuminate\Foundation\Application;

interface OperationTerminated
{
    public function app(): Application;

    public function sandbox(): Application;
}
