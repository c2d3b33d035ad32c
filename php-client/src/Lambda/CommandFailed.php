<?php

declare(strict_types=1);

namespace Cetane\Lambda;

/** A command has ended with another exit code than 0. */
final class CommandFailed extends \RuntimeException
{
    public function __construct(public readonly string $command, public readonly int $exitCode, public readonly string $output)
    {
        parent::__construct("$command has ended with exit code $exitCode: " . \substr($output, -10_000), $exitCode);
    }
}
