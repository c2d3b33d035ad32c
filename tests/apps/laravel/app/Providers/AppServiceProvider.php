<?php

declare(strict_types=1);

namespace App\Providers;

use App\Support\DemoDatabase;
use App\Support\RequestHolder;
use Illuminate\Support\ServiceProvider;

final class AppServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton(RequestHolder::class);
    }

    public function boot(): void
    {
        DemoDatabase::ensure(config('database.connections.sqlite.database'));
    }
}
