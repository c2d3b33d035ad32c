<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Cetane\Lambda\CommandFailed;
use Cetane\Lambda\CommandOutput;
use Cetane\Lambda\Context;

/**
 * Runs Artisan commands that a function is invoked with: `"migrate --force"`, or `{"cli": "migrate --force"}` as with Bref.
 *
 *     Cetane\Lambda\Handler::run(new Cetane\Laravel\Lambda\ArtisanHandler(__DIR__));
 *
 * Whoever may invoke that function may run any command of the application: make it one of its own, that nothing but people and schedules invoke.
 */
final class ArtisanHandler
{
    private readonly ConsoleApplication $application;

    /**
     * @param string $basePath absolute path of the application's directory
     *
     * @throws \Throwable whatever the application throws while it boots
     */
    public function __construct(string $basePath)
    {
        $this->application = ConsoleApplication::boot($basePath);
    }

    /**
     * @return array{exitCode: int, output: string} the output's end, where it is too large for an answer
     *
     * @throws \InvalidArgumentException for an event that is no command
     * @throws CommandFailed if the command's exit code is not 0
     * @throws \Throwable what the command throws
     */
    public function __invoke(mixed $event, Context $context): array
    {
        $command = \is_array($event) ? $event['cli'] ?? $event['command'] ?? null : $event;
        if (!\is_string($command) || \trim($command) === '') {
            throw new \InvalidArgumentException('The event is no command: it is a text, or an object with the text as "cli".');
        }
        $output = new CommandOutput();
        $code = $this->application->run(fn (): int => $this->application->kernel->call($command, [], $output));
        if ($code !== 0) {
            throw new CommandFailed($command, $code, $output->end());
        }

        return ['exitCode' => $code, 'output' => $output->end()];
    }
}
