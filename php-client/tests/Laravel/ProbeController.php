<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Closure;
use Illuminate\Http\Request;
use Illuminate\Routing\Controller;

/**
 * Middleware of the constructor puts something of the request into the controller, as many applications do with the user.
 */
final class ProbeController extends Controller
{
    private ?string $who = null;

    public function __construct()
    {
        $this->middleware(function (Request $request, Closure $next): mixed {
            $this->who = $request->query('who');

            return $next($request);
        });
    }

    public function show(): ?string
    {
        return $this->who;
    }
}
