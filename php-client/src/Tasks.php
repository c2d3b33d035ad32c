<?php

declare(strict_types=1);

namespace Cetane;

use Laravel\SerializableClosure\SerializableClosure;

/**
 * Runs things at the same time, each in a task worker of its own (`pool.task-workers`):
 *
 *     ['users' => $users, 'orders' => $orders] = Tasks::resolve(['users' => [Report::class, 'users'], 'orders' => new CountOrders()]);
 *
 * A task is a callable without parameters that can be serialised: a function's name, a static method, an invokable object; a closure where
 * `laravel/serializable-closure` is installed. So must its result. Without task workers, and within a task, tasks run where they are asked for, one after
 * the other: a task that waited for another could wait for itself.
 */
final class Tasks
{
    private const RUN = "\x20";
    private const DISPATCH = "\x21";
    private const RESULT = 0;
    private const EXCEPTION = 1;
    private const UNFINISHED = 2;

    /** Whether there are task workers, and this worker may wait for them. */
    public static function areAvailable(): bool
    {
        return self::canDispatch() && Worker::current()->setting('role') !== 'task';
    }

    /** Whether there are task workers. */
    public static function canDispatch(): bool
    {
        $worker = Worker::current();

        return $worker !== null && $worker->canCall() && (int) $worker->setting('task-workers') > 0;
    }

    /**
     * Runs the tasks, at most 1024, and waits for all of them.
     *
     * @param array<array-key, callable> $tasks
     *
     * @return array<array-key, mixed> the results under the tasks' keys; false for one that had not ended in time, whose worker is killed
     *
     * @throws TaskFailed for the first of the tasks that has failed
     * @throws TaskTimeout when none had ended in time
     */
    public static function resolve(array $tasks, int $waitMilliseconds = 3000): array
    {
        if (!self::areAvailable()) {
            return \array_map(static fn (callable $task): mixed => $task(), $tasks);
        }
        $outcomes = self::call(\array_map(self::pack(...), \array_values($tasks)), $waitMilliseconds);
        $results = [];
        $unfinished = 0;
        foreach (\array_keys($tasks) as $index => $key) {
            [$outcome, $bytes] = $outcomes[$index];
            $results[$key] = match ($outcome) {
                self::RESULT => \unserialize($bytes),
                self::EXCEPTION => throw TaskFailed::unpack($bytes),
                self::UNFINISHED => false,
                default => throw new TaskFailed($bytes),
            };
            $unfinished += $outcome === self::UNFINISHED ? 1 : 0;
        }
        if ($unfinished > 0 && $unfinished === \count($tasks)) {
            throw new TaskTimeout("No task had ended after $waitMilliseconds milliseconds.");
        }

        return $results;
    }

    /**
     * Starts the tasks, at most 1024, and waits for none. What becomes of them is in the log.
     *
     * @param array<array-key, callable> $tasks
     *
     * @throws TaskFailed when the queue is full (`pool.task-queue-size`)
     */
    public static function dispatch(array $tasks): void
    {
        if (self::canDispatch()) {
            self::send(\array_map(self::pack(...), \array_values($tasks)));
        } else {
            \array_map(static fn (callable $task): mixed => $task(), $tasks);
        }
    }

    /**
     * Has serialised tasks run.
     *
     * @internal
     *
     * @param list<string> $tasks
     *
     * @return list<array{int, string}> of each how it ended (0 result, 1 exception, 2 not finished, 3 failed) and what is known of it
     */
    public static function call(array $tasks, int $waitMilliseconds): array
    {
        if ($tasks === []) {
            return [];
        }
        $reply = self::ask(self::RUN . \pack('N', \max(0, \min(0xFFFF_FFFF, $waitMilliseconds))), $tasks);
        $outcomes = [];
        for ($at = 1, $end = \strlen($reply); $at < $end; $at += $length) {
            ['outcome' => $outcome, 'length' => $length] = \unpack('Coutcome/Nlength', $reply, $at);
            $at += 5;
            $outcomes[] = [$outcome, \substr($reply, $at, $length)];
        }

        return $outcomes;
    }

    /**
     * Has serialised tasks started.
     *
     * @internal
     *
     * @param list<string> $tasks
     */
    public static function send(array $tasks): void
    {
        if ($tasks !== []) {
            self::ask(self::DISPATCH, $tasks);
        }
    }

    /** @internal runs a task that {@see pack()} has serialised */
    public static function run(string $task): string
    {
        return \serialize(self::unpack($task)());
    }

    /** @internal */
    public static function pack(callable $task): string
    {
        return \serialize($task instanceof \Closure && \class_exists(SerializableClosure::class) ? new SerializableClosure($task) : $task);
    }

    /**
     * @internal
     *
     * @throws TaskFailed when it is no task
     */
    public static function unpack(string $task): callable
    {
        $callable = \unserialize($task);

        return \is_callable($callable) ? $callable : throw new TaskFailed('A task cannot be run: it names no function or class that its worker has loaded.');
    }

    /** @param list<string> $tasks */
    private static function ask(string $call, array $tasks): string
    {
        foreach ($tasks as $task) {
            $call .= \pack('N', \strlen($task)) . $task;
        }
        $reply = Worker::current()->calls()->call($call);

        return $reply[0] === "\0" ? $reply : throw new TaskFailed(\substr($reply, 1));
    }

    private function __construct()
    {
    }
}
