<?php

declare(strict_types=1);

namespace Laravel\Octane\Contracts;

use Illuminate\Http\Request;
use Laravel\Octane\RequestContext;

interface Worker
{
    public function boot(): void;

    public function handle(Request $request, RequestContext $context): void;

    public function handleTask($data);

    public function terminate(): void;
}
