<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Lambda\SnapStart;
use Cetane\Protocol\Frame;
use Cetane\Protocol\Job;

/**
 * Runs the tasks and ticks of this worker, and what is to be done around snapshots. What they print goes to the log.
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
        return $this->tick === null ? ['task', 'snapshot'] : ['task', 'tick', 'snapshot'];
    }

    /**
     * @return array{int, string} status and body of the answer; the worker must send it before it does anything else
     *
     * @throws \Throwable when what is to be done around a snapshot fails: so does the job
     */
    public function run(Job $job): array
    {
        $this->running = true;
        try {
            if ($job->type === Frame::CHECKPOINT || $job->type === Frame::RESTORED) {
                $job->type === Frame::CHECKPOINT ? SnapStart::checkpoint() : SnapStart::restored();

                return [204, ''];
            }
            if (!$job->isTask) {
                $this->tick === null || ($this->tick)();

                return [204, ''];
            }

            return [200, $this->task === null ? Tasks::run($job->task()) : ($this->task)($job->task())];
        } catch (\Throwable $error) {
            if ($job->type === Frame::CHECKPOINT || $job->type === Frame::RESTORED) {
                throw $error;
            }
            if (!$job->isTask) {
                $this->worker->log('error', (string) $error);
            }

            return $job->isTask ? [500, TaskFailed::pack($error)] : [204, ''];
        } finally {
            $this->running = false;
        }
    }
}
