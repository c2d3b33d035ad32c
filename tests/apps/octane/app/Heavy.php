<?php

declare(strict_types=1);

namespace App\Octane;

/** Takes more memory to unserialise than there is. */
final class Heavy
{
    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $data): void
    {
        str_repeat('x', 1 << 40);
    }
}
