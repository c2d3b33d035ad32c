<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Illuminate\Contracts\Config\Repository;
use RuntimeException;
use Symfony\Component\Process\ExecutableFinder;
use Symfony\Component\Process\Process;

/**
 * The server that `cetane:start` has started for this application, known by its state file and asked through the `cetane` command.
 */
final class Server
{
    public function __construct(private readonly Repository $config)
    {
    }

    /**
     * Absolute path of the `cetane` command.
     *
     * @throws RuntimeException if there is none
     */
    public function command(): string
    {
        $command = (string) $this->config->get('cetane.command');
        // Shipped with this library, where that was not installed by Composer.
        $own = dirname(__DIR__, 4) . '/bin/cetane';
        $found = str_contains($command, '/') ? (is_executable($command) ? $command : null) : (new ExecutableFinder())->find($command);

        return $found ?? (is_executable($own) ? $own : throw new RuntimeException(
            "The command $command was not found. Put Cetane's bin directory on the PATH, or set CETANE_COMMAND (cetane.command) to its path."
        ));
    }

    /**
     * Notes the server for the other commands.
     *
     * @param array<string, mixed> $state what else is of use to those who read the file
     */
    public function remember(int $processId, array $state): void
    {
        $file = $this->stateFile();
        $json = json_encode(['masterProcessId' => $processId, 'state' => $state], JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR);
        if ((!is_dir(dirname($file)) && !@mkdir(dirname($file), 0777, true)) || @file_put_contents($file, $json) === false) {
            throw new RuntimeException("The state file $file cannot be written. Set CETANE_STATE_FILE (cetane.state_file) to a writable place.");
        }
    }

    /**
     * Forgets the server, if it is still the one of that process.
     */
    public function forget(?int $processId = null): void
    {
        if ($processId === null || $processId === $this->processId()) {
            @unlink($this->stateFile());
        }
    }

    public function processId(): ?int
    {
        $id = $this->state()['masterProcessId'] ?? null;

        return is_int($id) && $id > 0 ? $id : null;
    }

    public function isRunning(): bool
    {
        return $this->processId() !== null && $this->ask('status', '--json')->isSuccessful();
    }

    /**
     * Runs a command of `cetane` for this server, to its end: that of `reload` is when all workers are replaced, that of `stop` when all is over.
     */
    public function ask(string $command, string ...$options): Process
    {
        $process = new Process(
            [$this->command(), $command, '--instance', (string) $this->processId(), ...$this->runDirectory(), ...$options],
            null,
            self::environment(),
            null,
            null,
        );
        $process->run();

        return $process;
    }

    /**
     * The environment for `cetane`: variables of ours that it does not know are taken out.
     *
     * @return array<string, string|false>
     */
    public static function environment(): array
    {
        return ['CETANE_COMMAND' => false, 'CETANE_STATE_FILE' => false];
    }

    /** @return list<string> */
    private function runDirectory(): array
    {
        $directory = $this->state()['state']['runDirectory'] ?? null;

        return is_string($directory) ? ['--run-directory', $directory] : [];
    }

    /** @return array<string, mixed> */
    private function state(): array
    {
        $json = @file_get_contents($this->stateFile());
        $state = $json === false ? null : json_decode($json, true);

        return is_array($state) ? $state : [];
    }

    private function stateFile(): string
    {
        return (string) $this->config->get('cetane.state_file');
    }
}
