<?php

declare(strict_types=1);

namespace Laravel\Octane\Events;

use Illuminate\Foundation\Application;
use Illuminate\Http\Request;

final class RequestReceived
{
    public function __construct(public Application $app, public Application $sandbox, public Request $request)
    {
    }
}
