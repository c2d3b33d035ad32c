<?php

declare(strict_types=1);

namespace App\Support;

use Illuminate\Http\Request;

/**
 * A singleton that keeps the request it was made with: the classic way to show one visitor the data of another in a persistent process.
 */
final class RequestHolder
{
    public function __construct(public readonly Request $request)
    {
    }
}
