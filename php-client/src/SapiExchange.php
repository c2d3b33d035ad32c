<?php

declare(strict_types=1);

namespace Cetane;

/**
 * One exchange after the other by PHP's own means: the request is in the superglobals and php://input, the answer is what is printed and what
 * header() and the like have set. Needs php-cgi.
 *
 * @internal for handlers that ship with the client
 */
final class SapiExchange
{
    /** A request may use up this much less than the whole time limit: to start the limit anew for each one costs two system calls. */
    private const LIMIT_SLACK_NANOS = 10_000_000;
    /** Whether the time limit counts CPU time, so that it can go on while the worker waits. Elsewhere PHP counts the time of day. */
    public const LIMIT_COUNTS_CPU = \PHP_OS_FAMILY === 'Linux' && !\PHP_ZTS;

    private static ?self $current = null;

    private readonly Superglobals $superglobals;
    private readonly int $bufferBytes;
    private readonly string $timeLimit;
    private readonly int $usualTimeoutMillis;
    private int $limitedAt = 0;
    private readonly bool $exposesPhp;
    private readonly bool $startsSession;

    public function __construct(private readonly Worker $worker)
    {
        // "On" is a buffer without a limit; 0, "Off" and nothing are no buffer.
        $buffer = (string) \ini_get('output_buffering');
        $this->bufferBytes = \strcasecmp($buffer, 'on') === 0 ? 0 : ((int) $buffer > 0 ? (int) $buffer : -1);
        $this->timeLimit = (string) \ini_get('max_execution_time');
        $this->exposesPhp = (bool) \ini_get('expose_php');
        $this->startsSession = \function_exists('session_start') && \ini_get('session.auto_start');
        $this->usualTimeoutMillis = (int) $worker->setting('request-timeout-millis');
        \set_time_limit(0);
        SapiHead::reset();
        $this->superglobals = new Superglobals();
        $worker->printed()->stream($this->superglobals);
        self::$current = $this;
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** Makes the world of a request that the worker has just got. */
    public function begin(Request $request): void
    {
        $this->superglobals->fill($request);
        \error_clear_last();
        if ($this->exposesPhp) {
            \header('X-Powered-By: PHP/' . \PHP_VERSION);
        }
        if ($this->bufferBytes >= 0) {
            \ob_start(null, $this->bufferBytes);
        }
        if ($this->startsSession) {
            // As in PHP, where no handler of the application's is there yet, that could throw.
            \set_error_handler(null);
            \session_start();
            \restore_error_handler();
        }
        if ($this->timeLimit !== '0') {
            $this->startTimeLimit($this->limitFor($request));
        }
    }

    /** PHP's own limit, or that of the request where the supervisor gives its path more time than others: PHP's must not end it earlier. */
    private function limitFor(Request $request): int
    {
        $own = (int) $this->timeLimit;
        if ($request->timeoutMillis <= $this->usualTimeoutMillis || $this->usualTimeoutMillis === 0) {
            return $own;
        }

        return \max($own, (int) \ceil($request->timeoutMillis / 1000));
    }

    /** Whether there is a request that has no complete answer. */
    public function isAnswerDue(): bool
    {
        return $this->worker->request() !== null && !$this->worker->isAnswered();
    }

    /** Completes the answer but for its end. */
    public function completeAnswer(): void
    {
        $this->worker->output()->endBuffers();
        $this->closeSession();
        $this->worker->printed()->complete();
    }

    public function closeSession(): void
    {
        if (\function_exists('session_status') && \session_status() === \PHP_SESSION_ACTIVE) {
            \session_write_close();
        }
    }

    /** Completes the answer: the client gets it now, what is printed later is dropped; a session goes on. False when it was complete. */
    public function complete(): bool
    {
        if (!$this->isAnswerDue()) {
            return false;
        }
        $this->worker->output()->endBuffers();
        $this->worker->printed()->complete();
        $this->worker->end();
        $this->worker->output()->discard();

        return true;
    }

    /**
     * Sends the fields that are set so far. With a status of 1xx that is an interim answer: fields and status stay for the final one.
     *
     * @return bool false when the final head is sent already
     */
    public function sendHead(int $status): bool
    {
        if (!$this->isAnswerDue() || $this->worker->isHeadSent()) {
            return false;
        }
        if ($status < 200) {
            $this->worker->interim($status, \headers_list());
            if (\http_response_code() < 200) {
                \http_response_code(200); // header('…', true, 103) has set it
            }
        } else {
            \http_response_code($status);
            $this->worker->printed()->begin();
        }

        return true;
    }

    /** Stops the time limit. */
    public function relax(): void
    {
        $limit = \ini_get('max_execution_time');
        if ($limit !== '0' && ($limit !== $this->timeLimit || !self::LIMIT_COUNTS_CPU)) {
            \set_time_limit(0);
            $this->limitedAt = 0;
        }
    }

    private function startTimeLimit(int $seconds): void
    {
        $now = \hrtime(true);
        if ($now - $this->limitedAt > self::LIMIT_SLACK_NANOS || $seconds !== (int) $this->timeLimit) {
            \set_time_limit($seconds);
            $this->limitedAt = $now;
        }
    }

    /**
     * Takes the world of the request away.
     *
     * @return bool whether it has had a session
     */
    public function clear(): bool
    {
        $hadSession = $this->superglobals->clear();
        SapiHead::reset();

        return $hadSession;
    }
}
