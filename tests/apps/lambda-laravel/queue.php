<?php

/* Jobs of a queue as a function, and jobs that do as they are told. */

declare(strict_types=1);

use Cetane\Lambda\Handler;
use Cetane\Laravel\Lambda\QueueHandler;
use Illuminate\Contracts\Queue\Job;

final class Chore
{
    /** @param array<string, mixed> $data */
    public function do(Job $job, array $data): void
    {
        $note = static fn (string $text) => file_put_contents(getenv('NOTES'), "$text\n", FILE_APPEND);
        switch ($data['do']) {
            case 'work':
                $note("worked on {$data['on']} as {$job->getConnectionName()} {$job->getQueue()} {$job->attempts()}");
                $job->delete();
                break;
            case 'leak':
                config(['app.name' => 'leaked']);
                $job->delete();
                break;
            case 'name':
                $note(config('app.name'));
                $job->delete();
                break;
            case 'throw':
                throw new RuntimeException('no stock');
            case 'sleep':
                for ($i = 0; $i < 600; $i++) {
                    usleep(100_000);
                }
        }
    }

    /** @param array<string, mixed> $data */
    public function failed(array $data, Throwable $problem): void
    {
        file_put_contents(getenv('NOTES'), 'failed for good: ' . $problem->getMessage() . "\n", FILE_APPEND);
    }
}

Handler::run(new QueueHandler(__DIR__));
