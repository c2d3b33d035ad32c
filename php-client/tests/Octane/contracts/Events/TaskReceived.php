<?php

declare(strict_types=1);

namespace Laravel\Octane\Events;

use Illuminate\Foundation\Application;

final class TaskReceived
{
    public function __construct(public Application $app, public Application $sandbox, public mixed $data)
    {
    }
}
