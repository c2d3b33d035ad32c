<?php

declare(strict_types=1);

namespace Laravel\Octane\Exceptions;

use Exception;
use Illuminate\Contracts\Support\Renderable;

class DdException extends Exception implements Renderable
{
    public function __construct(public array $vars)
    {
        parent::__construct((string) json_encode($vars));
    }

    public function render()
    {
        return $this->getMessage();
    }
}
