<?php

declare(strict_types=1);

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Log;
use Symfony\Component\HttpFoundation\Response;

/**
 * Works (`?ms=` milliseconds) and logs once the response is out.
 */
final class LogAfterResponse
{
    public function handle(Request $request, Closure $next): Response
    {
        return $next($request);
    }

    public function terminate(Request $request, Response $response): void
    {
        usleep(1000 * min(60_000, max(0, (int) $request->query('ms'))));
        Log::info('terminated ' . $request->path());
    }
}
