<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Job;

/**
 * Runs the tasks and ticks of this worker. What they print goes to the log.
 *
 * @internal
 */
final class JobRunner
{
    /** @var (\Closure(string): string)|null */
    private ?\Closure $task = null;
    /** @var (\Closure(): void)|null */
    private ?\Closure $tick = null;
    private bool $running = false;

    public function __construct(private readonly Worker $worker)
    {
    }

    /** @param \Closure(string): string $handler */
    public function onTask(\Closure $handler): void
    {
        $this->task = $handler;
    }

    /** @param \Closure(): void $handler */
    public function onTick(\Closure $handler): void
    {
        $this->tick = $handler;
    }

    public function isRunning(): bool
    {
        return $this->running;
    }

    /** @return list<string> */
    public function capabilities(): array
    {
        return $this->tick === null ? ['task'] : ['task', 'tick'];
    }

    /** @return array{int, string} status and body of the answer; the worker must send it before it does anything else */
    public function run(Job $job): array
    {
        $this->running = true;
        try {
            if (!$job->isTask) {
                $this->tick === null || ($this->tick)();

                return [204, ''];
            }

            return [200, $this->task === null ? Tasks::run($job->task()) : ($this->task)($job->task())];
        } catch (\Throwable $error) {
            if (!$job->isTask) {
                $this->worker->log('error', (string) $error);
            }

            return $job->isTask ? [500, TaskFailed::pack($error)] : [204, ''];
        } finally {
            $this->running = false;
        }
    }
}
