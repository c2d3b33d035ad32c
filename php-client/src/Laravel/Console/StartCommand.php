<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Dotenv\Dotenv;
use Illuminate\Console\Command;
use Illuminate\Contracts\Config\Repository;
use Illuminate\Support\Env;
use Laravel\Octane\Octane;
use RuntimeException;
use Symfony\Component\Process\ExecutableFinder;
use Symfony\Component\Process\Process;
use Throwable;

/**
 * Serves this application with Cetane until it is told to stop, by `cetane:stop` or a signal, and shows what happens.
 */
final class StartCommand extends Command
{
    private const SIGINT = 2;
    private const SIGTERM = 15;

    /** @var string */
    protected $signature = 'cetane:start
        {--host= : The address to listen on [default: "127.0.0.1"]}
        {--port= : The port to listen on [default: "8000"]}
        {--workers=auto : The number of workers that handle requests}
        {--task-workers= : The number of workers that run tasks and ticks [default: "auto" with laravel/octane, else 0]}
        {--max-requests=500 : The number of requests after which a worker is replaced, 0 for never}
        {--watch : Reload the workers when the application\'s source code changes; for development}
        {--poll : Accepted for the sake of Octane; the server watches by inotify alone}
        {--log-level= : The least severity that is shown: debug, info, warn or error}';

    /** @var string */
    protected $description = 'Start the Cetane server';

    public function handle(Server $server, Repository $config): int
    {
        $level = $this->level();
        if ($level === null) {
            $this->error("--log-level={$this->option('log-level')} is none of debug, info, warn, error.");

            return 1;
        }
        try {
            $command = $server->command();
            if ($server->isRunning()) {
                throw new RuntimeException(
                    "A Cetane server of this application runs already, process {$server->processId()}. Stop it with: php artisan cetane:stop"
                );
            }
        } catch (RuntimeException $problem) {
            $this->error($problem->getMessage());

            return 1;
        }
        $host = $this->option('host') ?? $config->get('octane.host') ?? Env::get('OCTANE_HOST') ?? '127.0.0.1';
        $port = (string) ($this->option('port') ?? $config->get('octane.port') ?? Env::get('OCTANE_PORT') ?? '8000');
        $options = new ServerOptions($config, [
            'host' => $host,
            'port' => $port,
            'workers' => (string) $this->option('workers'),
            'task-workers' => (string) ($this->option('task-workers') ?? (class_exists(Octane::class) ? 'auto' : '0')),
            'max-requests' => (string) $this->option('max-requests'),
            'watch' => (bool) $this->option('watch'),
            'debug' => $level === 'debug',
        ]);
        $console = new ServerConsole($this->output, $level, $this->laravel->environment('local', 'testing'), $this->announce(...));
        $environment = [
            'APP_ENV' => $this->laravel->environment(),
            'APP_BASE_PATH' => $this->laravel->basePath(),
            'LARAVEL_OCTANE' => '1',
        ] + Server::environment();
        if ($this->option('poll')) {
            $this->warn('--poll has no effect: changes are seen by inotify, which a network file system may not tell of.');
        }
        $this->forgetEnvironmentFile();
        $process = new Process(
            [...self::diesWithUs(), $command, 'serve', $this->laravel->basePath(), ...$options->words()],
            $this->laravel->basePath(),
            $environment,
            null,
            null,
        );

        return $this->serve($server, $process, $console, [
            'appName' => $config->get('app.name', 'Laravel'),
            'host' => $host,
            'port' => (int) $port,
            'workers' => $this->option('workers'),
            'maxRequests' => $this->option('max-requests'),
            'runDirectory' => $options->settings()['run-directory'] ?? null,
        ]);
    }

    /** @param array<string, mixed> $state */
    private function serve(Server $server, Process $process, ServerConsole $console, array $state): int
    {
        $errors = '';
        $process->start(function (string $type, string $bytes) use ($console, &$errors): void {
            $type === Process::OUT ? $console->read($bytes) : $errors .= $bytes;
        });
        $processId = (int) $process->getPid();
        try {
            $server->remember($processId, $state);
            $this->passSignalsTo($process);
            $code = $process->wait();
        } catch (RuntimeException $problem) {
            $process->stop(10);
            $this->error($problem->getMessage());

            return 1;
        } finally {
            $server->forget($processId);
        }
        $console->end();
        if ($code !== 0 && trim($errors) === '') {
            $errors = "The server has ended with exit code $code and has not said why; cetane check looks for what is missing";
        }
        if (trim($errors) !== '') {
            $console->label($code === 0 ? 'WARN' : 'ERROR', $code === 0 ? 'bg=yellow;fg=black' : 'bg=red;fg=white', trim($errors));
        }

        return $code;
    }

    /** The first signal lets running requests finish, a second one stops at once. Without pcntl the terminal's Ctrl+C does the same by itself. */
    private function passSignalsTo(Process $process): void
    {
        if (!function_exists('pcntl_signal') || !function_exists('pcntl_async_signals')) {
            return;
        }
        pcntl_async_signals(true);
        foreach ([1, self::SIGINT, self::SIGTERM] as $signal) {
            pcntl_signal($signal, static function () use ($process): void {
                if ($process->isRunning()) {
                    $process->signal(self::SIGTERM);
                }
            });
        }
    }

    /**
     * Words before the command that have the kernel stop the server should this process end without a chance to do so.
     *
     * @return list<string>
     */
    private static function diesWithUs(): array
    {
        $setpriv = PHP_OS_FAMILY === 'Linux' ? (new ExecutableFinder())->find('setpriv') : null;
        // That of busybox does not know the option.
        $isFull = $setpriv !== null && !str_starts_with(basename((string) realpath($setpriv)), 'busybox');

        return $isFull ? [$setpriv, '--pdeathsig', 'TERM'] : [];
    }

    /** The server must not inherit what this process has read from .env: its workers read the file anew, whenever they are replaced. */
    private function forgetEnvironmentFile(): void
    {
        $file = $this->laravel->environmentFilePath();
        try {
            $names = is_file($file) ? array_keys(Dotenv::parse((string) file_get_contents($file))) : [];
        } catch (Throwable) {
            return; // Laravel itself has read it, or has not; either way nothing is known of its names
        }
        foreach ($names as $name) {
            Env::getRepository()->clear((string) $name);
        }
    }

    private function announce(string $addresses): void
    {
        $this->output->writeln([
            '',
            '  <bg=blue;fg=white;options=bold> INFO </> Server running…',
            '',
            "  Local: <fg=white;options=bold>$addresses </>",
            '',
            '  <fg=yellow>Press Ctrl+C to stop the server</>',
            '',
        ]);
    }

    /** @return 'debug'|'info'|'warn'|'error'|null null for a word that is no level of ours, of Octane's servers or of PSR-3 */
    private function level(): ?string
    {
        return match (strtolower((string) $this->option('log-level'))) {
            'debug' => 'debug',
            '', 'info', 'notice' => 'info',
            'warn', 'warning' => 'warn',
            'error', 'critical', 'alert', 'emergency', 'fatal', 'panic' => 'error',
            default => null,
        };
    }
}
