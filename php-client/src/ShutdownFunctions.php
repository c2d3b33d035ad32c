<?php

declare(strict_types=1);

namespace Cetane;

/**
 * The application's shutdown functions, which have to run at the end of their request and not of the process: register_shutdown_function()
 * of functions.php, where PHP's own is disabled.
 *
 * What is registered while a file is loaded by require_once or include_once runs at the end of every request, because that file won't be
 * loaded again; all else runs once.
 *
 * @internal
 */
final class ShutdownFunctions
{
    /** @var list<array{callable, array<int|string, mixed>, bool}> function, arguments, whether it stays */
    private array $functions = [];
    /** @var list<array{callable, array<int|string, mixed>, bool}> those of the process */
    private array $ofTheEnd = [];
    private bool $running = false;

    /** @param array<int|string, mixed> $arguments */
    public function add(callable $function, array $arguments): void
    {
        $this->functions[] = [$function, $arguments, Loading::isOnce()];
    }

    /** The application is booted: what it has registered so far runs when the process ends. */
    public function keepForTheEnd(): void
    {
        $this->ofTheEnd = [...$this->ofTheEnd, ...$this->functions];
        $this->functions = [];
    }

    /**
     * Runs those of the request in the order of their registration, also what they register. One that exits ends the process, one that
     * throws is the last one; the others are over.
     */
    public function run(): void
    {
        if ($this->functions === []) {
            return;
        }
        $staying = \array_values(\array_filter($this->functions, static fn (array $function): bool => $function[2]));
        $this->running = true;
        try {
            for ($i = 0; $i < \count($this->functions); $i++) {
                ($this->functions[$i][0])(...$this->functions[$i][1]);
            }
        } finally {
            $this->functions = $staying;
            $this->running = false;
        }
    }

    /** PHP ends: runs them for the last time, unless one of them is what ends it. */
    public function runLast(): void
    {
        if ($this->running) {
            // finally blocks don't run on an exit.
            $this->functions = [];
            $this->running = false;
        }
        $this->functions = [...$this->ofTheEnd, ...$this->functions];
        $this->ofTheEnd = [];
        $this->run();
    }
}
