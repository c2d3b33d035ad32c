<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\Laravel\DumpAndDie;
use Illuminate\Http\Response;
use Laravel\Octane\Exceptions\DdException;

/**
 * `dd()` as Octane knows it, so that its listeners and its tasks take it for what it is; the answer is that of {@see DumpAndDie}: the whole dump,
 * status 500 as under php-fpm, no line in the log.
 */
final class OctanesDumpAndDie extends DdException
{
    private readonly DumpAndDie $dumped;

    /**
     * @param array<mixed> $vars what to dump
     */
    public function __construct(array $vars)
    {
        parent::__construct($vars);
        $this->dumped = new DumpAndDie($vars);
    }

    public function dump(): string
    {
        return $this->dumped->dump;
    }

    public function report(): bool
    {
        return $this->dumped->report();
    }

    public function render(): Response
    {
        return $this->dumped->render();
    }
}
