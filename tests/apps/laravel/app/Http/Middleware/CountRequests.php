<?php

declare(strict_types=1);

namespace App\Http\Middleware;

use App\Support\ProcessCounter;
use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

final class CountRequests
{
    public function handle(Request $request, Closure $next): Response
    {
        ProcessCounter::next();

        return $next($request);
    }
}
