<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Illuminate\Contracts\Container\Container;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\Jobs\Job;

/**
 * A message of SQS that Lambda has received for a function and deletes for it.
 *
 * @internal
 */
final class LambdaJob extends Job implements JobContract
{
    /** The longest that SQS hides a message. */
    private const MAX_DELAY = 43_200;

    /** @param array<string, mixed> $record of the event */
    public function __construct(Container $container, private readonly array $record, string $connection)
    {
        $this->container = $container;
        $this->connectionName = $connection;
        $this->queue = \substr((string) \strrchr(':' . ($record['eventSourceARN'] ?? ''), ':'), 1);
    }

    public function getJobId(): string
    {
        return (string) ($this->record['messageId'] ?? '');
    }

    public function getRawBody(): string
    {
        return (string) ($this->record['body'] ?? '');
    }

    /** Counted by the queue, so attempts that ended with a crash count too. */
    public function attempts(): int
    {
        return (int) ($this->record['attributes']['ApproximateReceiveCount'] ?? 1);
    }

    /**
     * @param \DateTimeInterface|\DateInterval|int $delay
     */
    public function release($delay = 0): void
    {
        parent::release($delay);
        $seconds = \min(self::MAX_DELAY, \max(0, $this->secondsUntil($delay)));
        if ($seconds === 0) {
            return;
        }
        $queue = $this->container->make('queue')->connection($this->connectionName);
        if (\method_exists($queue, 'getSqs')) {
            $queue->getSqs()->changeMessageVisibility([
                'QueueUrl' => $queue->getQueue($this->queue),
                'ReceiptHandle' => $this->record['receiptHandle'] ?? '',
                'VisibilityTimeout' => $seconds,
            ]);
        }
    }

    public function mustComeAgain(): bool
    {
        return !$this->isDeleted();
    }
}
