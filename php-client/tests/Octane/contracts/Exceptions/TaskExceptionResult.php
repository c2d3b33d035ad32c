<?php

declare(strict_types=1);

namespace Laravel\Octane\Exceptions;

class TaskExceptionResult
{
    /** @param array{string, string, int, string, int} $facts */
    final public function __construct(private array $facts)
    {
    }

    public static function from($throwable)
    {
        $place = [$throwable->getFile(), $throwable->getLine()];

        return new static([$throwable::class, $throwable->getMessage(), (int) $throwable->getCode(), ...$place]);
    }

    public function getOriginal()
    {
        return new TaskException(...$this->facts);
    }
}
