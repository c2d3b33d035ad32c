<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

/**
 * Throws {@see DeadlineNear} into what runs when time is up, to the second below; does nothing where PHP has no pcntl.
 *
 * @internal
 */
final class Alarm
{
    private readonly bool $isSet;

    public function __construct(int $millis)
    {
        $this->isSet = $millis < 86_400_000 && \function_exists('pcntl_alarm');
        if ($this->isSet) {
            \pcntl_async_signals(true);
            \pcntl_signal(\SIGALRM, static fn () => throw new DeadlineNear('The invocation is nearly over, so the job was interrupted.'));
            \pcntl_alarm(\max(1, \intdiv($millis, 1000)));
        }
    }

    public function cancel(): void
    {
        if ($this->isSet) {
            \pcntl_alarm(0);
            \pcntl_signal(\SIGALRM, \SIG_DFL);
        }
    }
}
