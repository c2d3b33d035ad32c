<?php

declare(strict_types=1);

namespace Cetane\Lambda;

use Symfony\Component\Console\Application;
use Symfony\Component\Console\Input\StringInput;

/**
 * Runs the commands of a symfony/console application that a function is invoked with: `"app:report --all"`, or `{"cli": "app:report --all"}`.
 *
 *     Handler::run(new ConsoleHandler($application));
 *
 * Whoever may invoke that function may run any of its commands. Laravel's are run by {@see \Cetane\Laravel\Lambda\ArtisanHandler}.
 */
final class ConsoleHandler
{
    public function __construct(private readonly Application $application)
    {
        $application->setAutoExit(false);
        $application->setCatchExceptions(false);
    }

    /**
     * @return array{exitCode: int, output: string}
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
        $code = $this->application->run(new StringInput($command), $output);
        if ($code !== 0) {
            throw new CommandFailed($command, $code, $output->end());
        }

        return ['exitCode' => $code, 'output' => $output->end()];
    }
}
