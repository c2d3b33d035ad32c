<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

/** One frame that a worker has sent. */
final class Frame
{
    public function __construct(
        public readonly string $name,
        public readonly int $flags,
        public readonly int $number,
        public readonly string $payload,
    ) {
    }

    /** The text of an ERROR. */
    public function message(): string
    {
        return \substr($this->payload, 1);
    }
}
