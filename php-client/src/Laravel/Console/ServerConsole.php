<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Closure;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Terminal;

/**
 * Shows the log of a server on the console: a line for each request, as Octane prints them, and what else a developer wants to see.
 */
final class ServerConsole
{
    private const LEVELS = ['debug' => 0, 'info' => 1, 'warn' => 2, 'error' => 3];

    /** Events below warnings that are of interest; the others are shown with -v. */
    private const SHOWN = ['pool.reloaded', 'supervisor.draining', 'watch.changed', 'worker.log', 'worker.output'];

    private string $rest = '';
    private bool $started = false;

    /**
     * @param string          $least   debug, info, warn or error: events below are not shown
     * @param Closure(string): void $whenUp called once with the addresses, when requests are served
     */
    public function __construct(
        private readonly OutputInterface $output,
        private readonly string $least,
        private readonly bool $showsRequests,
        private readonly Closure $whenUp,
    ) {
    }

    /** Takes the next bytes of the log, of any length. */
    public function read(string $bytes): void
    {
        $lines = explode("\n", $this->rest . $bytes);
        $this->rest = (string) array_pop($lines);
        foreach ($lines as $line) {
            $this->line($line);
        }
    }

    /** The log has ended. */
    public function end(): void
    {
        if ($this->rest !== '') {
            $this->line($this->rest);
            $this->rest = '';
        }
    }

    public function label(string $label, string $colors, string $text): void
    {
        $this->output->writeln(['', "  <$colors;options=bold> $label </> " . OutputFormatter::escape($text)]);
    }

    private function line(string $line): void
    {
        if (trim($line) === '') {
            return;
        }
        $event = json_decode($line, true);
        if (!is_array($event) || !is_string($event['event'] ?? null)) {
            $this->output->writeln($line, OutputInterface::OUTPUT_RAW);

            return;
        }
        $message = (string) ($event['message'] ?? '');
        match ($event['event']) {
            'http.access' => $this->request($message, $event['fields'] ?? []),
            'supervisor.started' => $this->started($message),
            'worker.output' => $this->output($message),
            default => $this->event($event['event'], (string) ($event['level'] ?? 'info'), $message),
        };
    }

    /** @param array<string, mixed> $fields */
    private function request(string $message, array $fields): void
    {
        if (!$this->showsRequests && !$this->output->isVerbose()) {
            return;
        }
        [$method, $target] = explode(' ', $message, 2) + [1 => '/'];
        $path = strtok($target, '?') ?: '/';
        $status = (int) ($fields['status'] ?? 0);
        $duration = number_format((int) ($fields['micros'] ?? 0) / 1000, 2, '.', '') . ' ms';
        $room = max(30, (new Terminal())->getWidth()) - strlen("  $status    $method   $duration");
        if (strlen($path) > $room && !$this->output->isVerbose()) {
            $path = substr($path, 0, max(1, $room - 3)) . '...';
        }
        $color = match (true) {
            $status >= 500 => 'red',
            $status >= 400 => 'yellow',
            $status >= 300 => 'cyan',
            default => 'green',
        };
        $this->output->writeln(sprintf(
            '  <fg=%s;options=bold>%d</>    <fg=cyan;options=bold>%s</> <options=bold>%s</> %s %s',
            $color,
            $status,
            $method,
            OutputFormatter::escape($path),
            str_repeat('.', max(0, $room - strlen($path))),
            $duration,
        ));
    }

    private function started(string $message): void
    {
        if (!$this->started) {
            $this->started = true;
            ($this->whenUp)(preg_match('/\) on (\S.*?)(;|$)/', $message, $found) === 1 ? $found[1] : $message);
        }
    }

    /** A line that the application has printed; Octane's listeners print exceptions as JSON. */
    private function output(string $line): void
    {
        $data = json_decode($line, true);
        $isThrowable = is_array($data) && in_array($data['type'] ?? null, ['throwable', 'shutdown'], true)
            && is_string($data['class'] ?? null) && is_string($data['message'] ?? null);
        if (!$isThrowable) {
            if (self::LEVELS[$this->least] <= self::LEVELS['info']) {
                $this->output->writeln($line, OutputInterface::OUTPUT_RAW);
            }

            return;
        }
        $this->label($data['class'], 'bg=red;fg=white', $data['message']);
        $this->output->writeln('');
        foreach ([$data, ...array_filter((array) ($data['trace'] ?? []), is_array(...))] as $number => $frame) {
            if (is_string($frame['file'] ?? null)) {
                $this->output->writeln("  <fg=yellow>$number</>   " . OutputFormatter::escape($frame['file'] . ':' . (int) ($frame['line'] ?? 0)));
            }
        }
    }

    private function event(string $event, string $level, string $message): void
    {
        $rank = self::LEVELS[$level] ?? 1;
        // What keeps the server from starting is said once more, when it ends.
        $isOfStart = !$this->started && $rank >= self::LEVELS['warn'];
        $shows = $rank >= self::LEVELS['warn'] || $this->least === 'debug' || in_array($event, self::SHOWN, true);
        if ($isOfStart || $rank < self::LEVELS[$this->least] || (!$shows && !$this->output->isVerbose())) {
            return;
        }
        match (true) {
            $rank === self::LEVELS['error'] => $this->label('ERROR', 'bg=red;fg=white', $message),
            $rank === self::LEVELS['warn'] => $this->label('WARN', 'bg=yellow;fg=black', $message),
            $event === 'worker.log' => $this->output->writeln($message, OutputInterface::OUTPUT_RAW),
            default => $this->label('INFO', 'bg=blue;fg=white', $message),
        };
    }
}
