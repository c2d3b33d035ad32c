<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Connection;
use Cetane\Protocol\ConnectionLost;

/**
 * What the application prints. The outermost output buffer of the process belongs to this class and never lets a byte through, so
 * print can't reach the log or the protocol unasked, and PHP never counts its headers as sent.
 *
 * Bytes go to the log outside a request; during one they are held, or given to a sink that streams them.
 */
final class Output
{
    /** How many bytes a sink gets at least, but for flush(). */
    private const SINK_BYTES = 16_384;
    /** A log line without an end is cut here. */
    private const LINE_BYTES = 8192;

    private static ?self $current = null;

    private bool $toLog = true;
    private string $held = '';
    /**
     * Whether a buffer of PHP's own stands above the outermost one. It costs nothing per echo, and takes in what a callback of the
     * application lets through when it throws or exits: PHP would disable a callback of ours that it can't call then.
     */
    private bool $inBuffer = false;
    /** @var (\Closure(string): void)|null */
    private ?\Closure $sink = null;
    private int $threshold = \PHP_INT_MAX;
    private bool $implicitFlush = false;
    /** Whether the application's flush() is ours: see functions.php. */
    private readonly bool $seesFlush;
    private readonly int $pid;
    private int $level = 0;

    /** @param \Closure(): void $atEnd runs when PHP ends the outermost buffer, the last moment to answer a request */
    public function __construct(private readonly Connection $connection, private readonly \Closure $atEnd)
    {
        $this->pid = (int) \getmypid();
        $this->seesFlush = (new \ReflectionFunction('flush'))->isUserDefined();
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** Takes over what was printed so far and everything that will be. */
    public function start(): void
    {
        $printed = '';
        while (\ob_get_status() !== []) {
            $printed = \ob_get_contents() . $printed;
            if (!@\ob_end_clean()) {
                break;
            }
        }
        \ob_start($this->take(...), 1, 0);
        $this->level = \count(\ob_list_handlers());
        self::$current = $this;
        $this->log($printed);
    }

    /** Everything printed from now on is kept for {@see takeHeld()}; {@see endLine()} first. */
    public function hold(): void
    {
        $this->toLog = false;
        $this->sink = null;
        $this->held = '';
        $this->implicitFlush = false;
        $this->inBuffer = \ob_start();
    }

    /**
     * {@see hold()} and {@see pour()} in one.
     *
     * @param \Closure(string): void $sink
     */
    public function stream(\Closure $sink, int $bytes): void
    {
        $this->toLog = false;
        $this->sink = $sink;
        $this->threshold = $bytes;
        $this->held = '';
        $this->implicitFlush = false;
    }

    /**
     * Everything printed goes to the sink: what is held so far included, in pieces of at least $bytes (but when flushed).
     *
     * @param \Closure(string): void $sink
     */
    public function pour(\Closure $sink, int $bytes = self::SINK_BYTES): void
    {
        $this->endBuffers();
        $this->collect();
        $this->toLog = false;
        $this->sink = $sink;
        $this->threshold = $this->seesFlush || $bytes !== self::SINK_BYTES ? $bytes : 1;
    }

    /** What was printed since, and is not poured yet. */
    public function takeHeld(): string
    {
        if ($this->inBuffer) {
            $this->collect();
        }
        $held = $this->held;
        $this->held = '';

        return $held;
    }

    /** Whether nothing was printed since that is not poured yet; buffers of the application are not looked into. */
    public function isEmpty(): bool
    {
        $this->collect();

        return $this->held === '';
    }

    /** PHP drops all buffers when memory runs out: what is printed from now on is held again. */
    public function revive(): void
    {
        if (\ob_list_handlers() === []) {
            $this->inBuffer = false;
            $this->held = '';
            $this->level = 1;
            \ob_start($this->take(...), 1, 0);
        }
    }

    /** What is held goes to the log, and so does everything printed from now on; with buffers open, once they are ended. */
    public function toLog(): void
    {
        if (($this->toLog && $this->held === '') || !$this->collect()) {
            return;
        }
        $this->toLog = true;
        $this->sink = null;
        $this->implicitFlush = false;
        if ($this->held !== '') {
            $this->log("\n");
        }
    }

    /** Sends the start of a line that is kept for its end. */
    public function endLine(): void
    {
        if ($this->toLog && $this->held !== '') {
            $this->log("\n");
        }
    }

    /** Drops what is held and everything printed from now on, until the next {@see hold()}. */
    public function discard(): void
    {
        $this->pour(static function (): void {
        }, 1);
        $this->held = '';
    }

    /**
     * The application's flush().
     *
     * @throws ClientLeft where PHP would end the script. Only here: PHP disables an output callback that throws.
     */
    public function flush(): void
    {
        if ($this->sink === null || $this->pid !== \getmypid()) {
            return;
        }
        $held = $this->takeHeld();
        if ($held === '' && $this->connection->isHeadDue()) {
            return; // PHP does not send a head either until something is printed
        }
        ($this->sink)($held);
        if ($this->connection->isCancelled() && \ignore_user_abort() === 0) {
            throw new ClientLeft('The client left while its answer was streamed.');
        }
    }

    /** Whether PHP has disabled the outermost buffer, so that what is printed can't be an answer any more. */
    public function isDisabled(): bool
    {
        return ((\ob_get_status(true)[$this->level - 1]['flags'] ?? 0) & \PHP_OUTPUT_HANDLER_DISABLED) !== 0;
    }

    /** The application's ob_implicit_flush(). */
    public function flushImplicitly(bool $enable): void
    {
        $this->implicitFlush = $enable;
    }

    /** How many buffers the application has opened. */
    public function depth(): int
    {
        return \count(\ob_list_handlers()) - $this->level - ($this->inBuffer ? 1 : 0);
    }

    /**
     * Ends the buffers that the application left open, innermost first, as PHP does at the end of a request.
     *
     * @return bool false when one refused to be removed
     */
    public function endBuffers(): bool
    {
        for ($depth = $this->depth(); $depth > 0; $depth = $left) {
            @\ob_end_flush();
            $left = $this->depth();
            if ($left >= $depth) {
                return false;
            }
        }

        return true;
    }

    /** Drops the buffers that the application left open. */
    public function dropBuffers(): void
    {
        for ($depth = $this->depth(); $depth > 0; $depth = $left) {
            @\ob_end_clean();
            $left = $this->depth();
            if ($left >= $depth) {
                return;
            }
        }
    }

    /** Moves what PHP's buffer has into ours; false while the application has buffers open above it. */
    private function collect(): bool
    {
        if ($this->inBuffer) {
            $depth = $this->depth();
            if ($depth > 0) {
                return false;
            }
            $this->inBuffer = false;
            if ($depth === 0) {
                $this->held .= \ob_get_clean();
            } // else the application has ended it
        }

        return true;
    }

    private function take(string $bytes, int $flags): string
    {
        if ((\PHP_OUTPUT_HANDLER_FINAL & $flags) !== 0) {
            $this->inBuffer = false;
            if ($this->pid !== \getmypid()) {
                return ''; // a child that the application forked: the streams are its parent's
            }
            $this->held .= $bytes;
            ($this->atEnd)();

            return '';
        }
        if ($bytes === '') {
            return '';
        }
        try {
            if ($this->toLog) {
                $this->log($bytes);
            } else {
                $this->held .= $bytes;
                if (
                    $this->sink !== null
                    && ($this->implicitFlush || \strlen($this->held) >= $this->threshold)
                    && $this->pid === \getmypid()
                ) {
                    ($this->sink)($this->takeHeld());
                }
            }
        } catch (ConnectionLost) {
            // Nobody is left to read it. The next wait() ends the worker.
        }

        return '';
    }

    private function log(string $bytes): void
    {
        if ($bytes === '' || $this->pid !== \getmypid()) {
            return;
        }
        $lines = \explode("\n", $this->held . $bytes);
        $this->held = (string) \array_pop($lines);
        if (\strlen($this->held) > self::LINE_BYTES) {
            $lines[] = $this->held;
            $this->held = '';
        }
        foreach ($lines as $line) {
            if (\trim($line) !== '') {
                $this->connection->log(6, $line);
            }
        }
    }
}
