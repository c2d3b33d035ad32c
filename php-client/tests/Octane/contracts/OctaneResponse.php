<?php

declare(strict_types=1);

namespace Laravel\Octane;

use Symfony\Component\HttpFoundation\Response;

final class OctaneResponse
{
    public function __construct(public Response $response, public ?string $outputBuffer = null)
    {
    }
}
