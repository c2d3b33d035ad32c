<?php

declare(strict_types=1);

namespace Laravel\Octane\Exceptions;

use Exception;

class TaskTimeoutException extends Exception
{
    public static function after($milliseconds)
    {
        return new static("The tasks had $milliseconds ms.");
    }
}
