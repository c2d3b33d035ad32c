<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Illuminate\Contracts\Support\DeferrableProvider;

/** The same, but only when its service is asked for. */
final class DeferredPackageProvider extends PackageProvider implements DeferrableProvider
{
    protected string $key = 'deferred';

    /** @return list<string> */
    public function provides(): array
    {
        return ['deferred service'];
    }
}
