<?php

declare(strict_types=1);

namespace Laravel\Octane\Events;

use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

final class RequestHandled
{
    public function __construct(public Application $sandbox, public Request $request, public Response $response)
    {
    }
}
