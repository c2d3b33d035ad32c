<?php

declare(strict_types=1);

namespace Laravel\Octane\Exceptions;

use Exception;

class TaskException extends Exception
{
    public function __construct(protected $class, $message, $code, $file, $line)
    {
        parent::__construct($message, $code);
        $this->file = $file;
        $this->line = $line;
    }

    public function getClass()
    {
        return $this->class;
    }
}
