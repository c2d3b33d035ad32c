<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Cetane\Lambda\Context;
use Cetane\Lambda\SqsBatch;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\WorkerOptions;

/**
 * Runs the jobs of a Laravel application that SQS hands to a function, as `queue:work` does: attempts, back-off, `failed()` and the table of failed jobs,
 * events and middleware.
 *
 *     Cetane\Lambda\Handler::run(new Cetane\Laravel\Lambda\QueueHandler(__DIR__));
 *
 * A message whose job is done, or has failed for good, is deleted by Lambda; the others are reported and come again: the event source mapping needs
 * `ReportBatchItemFailures`. What nears the deadline is interrupted where PHP has the extension pcntl and counts as an attempt; the rest of the batch is
 * not begun. When a message comes again is the queue's visibility time-out's business; a job's own delay counts where aws/aws-sdk-php is installed.
 */
final class QueueHandler
{
    private readonly ConsoleApplication $application;
    private bool $timeIsUp = false;

    /**
     * @param string $basePath absolute path of the application's directory
     * @param string $connection of config/queue.php, as jobs and listeners see it
     * @param int $tries how often a job is tried that does not say it itself; 0: until the queue gives up
     * @param int $marginMillis how long before the deadline a job is interrupted, and none is begun any more
     *
     * @throws \Throwable whatever the application throws while it boots
     */
    public function __construct(
        string $basePath,
        private readonly string $connection = 'sqs',
        private readonly int $tries = 3,
        private readonly int $marginMillis = 1000,
    ) {
        $this->application = ConsoleApplication::boot($basePath);
    }

    /** @return array{batchItemFailures: list<array{itemIdentifier: string}>} */
    public function __invoke(mixed $event, Context $context): array
    {
        $this->timeIsUp = false;

        // An alarm is set to the second, so less than that is no time for a job.
        return (new SqsBatch($this->runJob(...), $this->marginMillis + 1000))($event, $context);
    }

    /** @param array<string, mixed> $record */
    private function runJob(array $record, Context $context): void
    {
        if ($this->timeIsUp) {
            throw new JobReleased('The time of the invocation is nearly over, so the job was not begun.');
        }
        $job = new LambdaJob($this->application->laravel, $record, $this->connection);
        $this->application->run(function () use ($job, $context): void {
            $laravel = $this->application->laravel;
            // As queue:work does, which is a command and so not there.
            $isKept = \is_array($laravel->make('config')->get('queue.failed'));
            $isKept && $laravel->make('events')->listen(JobFailed::class, static function (JobFailed $event) use ($laravel): void {
                $laravel->make('queue.failer')
                    ->log($event->connectionName, $event->job->getQueue(), $event->job->getRawBody(), $event->exception);
            });
            $worker = $laravel->make('queue.worker')->setCache($laravel->make('cache')->driver());
            $alarm = new Alarm($context->remainingMillis() - $this->marginMillis);
            try {
                $worker->process($this->connection, $job, new WorkerOptions('default', 0, 0, 0, 0, $this->tries));
            } catch (\Throwable $problem) {
                $this->timeIsUp = $problem instanceof DeadlineNear;
                $this->application->report($problem);
            } finally {
                $alarm->cancel();
            }
        });
        $job->mustComeAgain() && throw new JobReleased("Job {$job->getJobId()} comes again, this was attempt {$job->attempts()}.");
    }
}
