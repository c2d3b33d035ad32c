<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** A task, a tick, or word of a snapshot: what the supervisor gives a worker besides requests. */
final class Job
{
    /** What is left of its time, milliseconds; 0 is no limit. */
    public readonly int $timeoutMillis;

    public readonly bool $isTask;

    private string $task;

    /**
     * @param int $type that of its frame
     * @param Calls|null $rest who knows the rest of the task, where the frame does not hold all of it
     */
    public function __construct(public readonly int $number, public readonly int $type, string $payload, private ?Calls $rest)
    {
        $this->isTask = $type === Frame::TASK;
        $this->timeoutMillis = $this->isTask ? \unpack('N', $payload)[1] : 0;
        $this->task = \substr($payload, 4);
    }

    /** What is to be done, as the application that asks for it has serialised it; empty for all others. */
    public function task(): string
    {
        if ($this->rest !== null) {
            $this->task .= $this->rest->rest();
            $this->rest = null;
        }

        return $this->task;
    }
}
