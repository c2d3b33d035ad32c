<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Laravel\Octane\Octane as OctanesOctane;
use Swoole\Table;

/** Octane's own, whose tables are those of the supervisor. */
final class Octane extends OctanesOctane
{
    public function __construct(private readonly Tables $tables)
    {
    }

    public function table(string $table): Table
    {
        return $this->tables->get($table);
    }
}
