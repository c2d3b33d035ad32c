<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\TaskFailed;
use Cetane\Tasks;
use Laravel\Octane\Contracts\DispatchesTasks;
use Laravel\Octane\Exceptions\DdException;
use Laravel\Octane\Exceptions\TaskException;
use Laravel\Octane\Exceptions\TaskExceptionResult;
use Laravel\Octane\Exceptions\TaskTimeoutException;
use Laravel\Octane\Swoole\TaskResult;
use Throwable;

/**
 * `Octane::concurrently()` and `Octane::tasks()` on task workers. Without them, and within a task, tasks run here, one after the other.
 */
final class TaskDispatcher implements DispatchesTasks
{
    private const RESULT = 0;
    private const EXCEPTION = 1;
    private const UNFINISHED = 2;

    /**
     * Runs the tasks, at most 1024, and waits for all of them.
     *
     * @param array<array-key, callable> $tasks
     *
     * @return array<array-key, mixed> the results under the tasks' keys; false for one that had not ended in time
     *
     * @throws TaskException        for the first of the tasks that has failed
     * @throws TaskTimeoutException when none had ended in time
     */
    public function resolve(array $tasks, int $waitMilliseconds = 3000): array
    {
        if (!Tasks::areAvailable()) {
            return array_map(self::runHere(...), $tasks);
        }
        try {
            $outcomes = Tasks::call(array_map(Tasks::pack(...), array_values($tasks)), $waitMilliseconds);
        } catch (TaskFailed $refused) {
            throw self::exception($refused);
        }
        $results = [];
        $unfinished = 0;
        foreach (array_keys($tasks) as $index => $key) {
            [$outcome, $bytes] = $outcomes[$index];
            $results[$key] = match ($outcome) {
                self::RESULT => self::result(unserialize($bytes)),
                self::EXCEPTION => throw self::exception(TaskFailed::unpack($bytes)),
                self::UNFINISHED => false,
                default => throw self::exception(new TaskFailed($bytes)),
            };
            $unfinished += $outcome === self::UNFINISHED ? 1 : 0;
        }
        if ($unfinished > 0 && $unfinished === count($tasks)) {
            throw TaskTimeoutException::after($waitMilliseconds);
        }

        return $results;
    }

    /**
     * Starts the tasks, at most 1024, and waits for none.
     *
     * @param array<array-key, callable> $tasks
     *
     * @throws TaskException when the queue is full
     */
    public function dispatch(array $tasks): void
    {
        if (!Tasks::canDispatch()) {
            array_map(self::runHere(...), $tasks);

            return;
        }
        try {
            Tasks::send(array_map(Tasks::pack(...), array_values($tasks)));
        } catch (TaskFailed $refused) {
            throw self::exception($refused);
        }
    }

    private static function runHere(callable $task): mixed
    {
        try {
            return $task();
        } catch (Throwable $problem) {
            throw TaskExceptionResult::from($problem)->getOriginal();
        }
    }

    /** What Octane's worker makes of a task is an object that holds the result, or what is known of an exception. */
    private static function result(mixed $result): mixed
    {
        if ($result instanceof TaskExceptionResult) {
            $problem = $result->getOriginal();
            throw $problem instanceof TaskException && is_a($problem->getClass(), DdException::class, true)
                ? new DdException((array) json_decode($problem->getMessage(), true))
                : $problem;
        }

        return $result instanceof TaskResult ? $result->result : $result;
    }

    private static function exception(TaskFailed $failed): TaskException
    {
        return new TaskException(
            $failed->class === '' ? TaskFailed::class : $failed->class,
            $failed->getMessage(),
            $failed->getCode(),
            $failed->getFile(),
            $failed->getLine(),
        );
    }
}
