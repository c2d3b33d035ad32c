<?php

declare(strict_types=1);

namespace Laravel\Octane\Events;

use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Laravel\Octane\Contracts\OperationTerminated;
use Symfony\Component\HttpFoundation\Response;

final class RequestTerminated implements OperationTerminated
{
    public function __construct(public Application $app, public Application $sandbox, public Request $request, public Response $response)
    {
    }

    public function app(): Application
    {
        return $this->app;
    }

    public function sandbox(): Application
    {
        return $this->sandbox;
    }
}
