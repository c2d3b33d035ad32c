<?php

declare(strict_types=1);

namespace Cetane\Lambda;

use Cetane\Worker;

/**
 * Handles the messages of an SQS event one by one and names those that have failed, so that only they come again. The event source mapping needs
 * `ReportBatchItemFailures`.
 *
 *     Handler::run(new SqsBatch(function (array $record, Context $context): void { … $record['body'] … }));
 *
 * After a failure in a FIFO queue, and when the time is nearly over, the rest is not begun and counts as failed.
 */
final class SqsBatch
{
    private readonly \Closure $handler;

    /**
     * @param callable(array<string, mixed>, Context): mixed $handler an exception that leaves it fails the message
     * @param int $marginMillis what must be left of the time for another message to be begun
     */
    public function __construct(callable $handler, private readonly int $marginMillis = 1000)
    {
        $this->handler = $handler(...);
    }

    /** @return array{batchItemFailures: list<array{itemIdentifier: string}>} */
    public function __invoke(mixed $event, Context $context): array
    {
        $records = \is_array($event) && \is_array($event['Records'] ?? null)
            ? $event['Records']
            : throw new \InvalidArgumentException('The event is none of SQS: it has no Records.');
        $failures = [];
        $skipping = false;
        foreach ($records as $record) {
            $id = (string) ($record['messageId'] ?? '');
            $skipping = $skipping || $context->remainingMillis() < $this->marginMillis;
            try {
                $skipping || ($this->handler)($record, $context);
            } catch (\Throwable $error) {
                Worker::current()?->log('error', "Message $id has failed: $error");
                $failures[] = ['itemIdentifier' => $id];
                $skipping = \str_ends_with((string) ($record['eventSourceARN'] ?? ''), '.fifo');
                continue;
            }
            if ($skipping) {
                $failures[] = ['itemIdentifier' => $id];
            }
        }

        return ['batchItemFailures' => $failures];
    }
}
