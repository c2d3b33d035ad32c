<?php

declare(strict_types=1);

namespace App\Providers;

use Illuminate\Foundation\Support\Providers\RouteServiceProvider as ServiceProvider;

/** Laravel's own, which knows routes that were cached. */
final class RouteServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        $this->routes(static fn () => require base_path('routes/web.php'));
    }
}
