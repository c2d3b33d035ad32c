<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\ConnectionLost;

/**
 * Runs a plain PHP script once per request, in a process that lives on. Its loop stands in bin/cetane-worker.php, in global scope, so
 * that the script's variables are globals, as under php-fpm:
 *
 *     $front->begin()  fills the superglobals
 *     require script
 *     $front->finish() or fail()
 */
final class FrontController
{
    /** A request may use up this much less than the whole time limit: to start the limit anew for each one costs two system calls. */
    private const LIMIT_SLACK_NANOS = 10_000_000;
    /** Whether the time limit counts CPU time, so that it can go on while the worker waits. Elsewhere PHP counts the time of day. */
    private const LIMIT_COUNTS_CPU = \PHP_OS_FAMILY === 'Linux' && !\PHP_ZTS;

    private static ?self $current = null;

    private readonly Superglobals $superglobals;
    private readonly Handlers $handlers;
    private readonly string $directory;
    private readonly int $bufferBytes;
    private readonly string $timeLimit;
    private int $limitedAt = 0;
    private readonly bool $exposesPhp;
    private bool $servesOnce = false;
    /** @var array<string, true> names of the global variables that are not the application's */
    private array $globals;

    public function __construct(private readonly Worker $worker, public readonly string $script)
    {
        if (!\is_file($script) || !\is_readable($script)) {
            throw new \RuntimeException("The front controller $script is no readable file.");
        }
        $this->directory = \dirname($script);
        // "On" is a buffer without a limit; 0, "Off" and nothing are no buffer.
        $buffer = (string) \ini_get('output_buffering');
        $this->bufferBytes = \strcasecmp($buffer, 'on') === 0 ? 0 : ((int) $buffer > 0 ? (int) $buffer : -1);
        $this->timeLimit = (string) \ini_get('max_execution_time');
        $this->exposesPhp = (bool) \ini_get('expose_php');
        $declaration = TopLevelDeclaration::find($script);
        if ($declaration !== null) {
            $this->servesOnce = true;
            $worker->log('warning', "$script declares $declaration at its top level, and PHP can't declare it again for the next request: "
                . 'each worker serves one request only, which is slow. Move it to a file that is loaded with require_once.');
        }
        \set_time_limit(0);
        SapiHead::reset();
        $this->superglobals = new Superglobals();
        $worker->printed()->stream($this->superglobals);
        $this->handlers = new Handlers();
        $this->globals = \array_fill_keys(\array_keys($GLOBALS), true)
            + \array_fill_keys(['_GET', '_POST', '_COOKIE', '_FILES', '_SERVER', '_REQUEST', '_ENV', '_SESSION'], true);
        self::$current = $this;
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** Waits for a request and makes its world; false when the worker has to leave. */
    public function begin(): bool
    {
        $request = $this->worker->wait();
        if ($request === null) {
            return false;
        }
        if ($this->servesOnce) {
            $this->worker->retire();
        }
        if (\getcwd() !== $this->directory) {
            \chdir($this->directory);
        }
        $this->superglobals->fill($request);
        if ($this->exposesPhp) {
            \header('X-Powered-By: PHP/' . \PHP_VERSION);
        }
        if ($this->bufferBytes >= 0) {
            \ob_start(null, $this->bufferBytes);
        }
        if ($this->timeLimit !== '0') {
            $this->startTimeLimit();
        }

        return true;
    }

    /** The script has returned: its variables end, what they print included, and the answer leaves. */
    public function finish(): void
    {
        try {
            $this->unsetGlobals();
            if ($this->isAnswerDue()) {
                $this->completeAnswer();
            }
            $this->worker->finish();
        } catch (\Throwable $error) {
            $this->failRequest($error);

            return;
        }
        $this->reset();
    }

    /** An exception has left the script: its own handler gets it, as it does in PHP. Without one, or when that throws, the request fails. */
    public function fail(\Throwable $error): void
    {
        $handler = \set_exception_handler(null);
        \restore_exception_handler();
        if ($handler !== null && !$error instanceof ClientLeft && $this->isAnswerDue()) {
            try {
                $handler($error);
                $this->finish();

                return;
            } catch (\Throwable $another) {
                $error = $another;
            }
        }
        $this->failRequest($error);
    }

    private function failRequest(\Throwable $error): void
    {
        try {
            $this->worker->fail($error);
            $this->unsetGlobals();
        } catch (ConnectionLost) {
            // The next begin() ends the worker.
        } catch (\Throwable $another) {
            $this->worker->log('error', (string) $another);
        }
        $this->reset();
    }

    /** Completes the answer before the script has returned; false when it was complete. */
    public function complete(): bool
    {
        if (!$this->isAnswerDue()) {
            return false;
        }
        $this->completeAnswer();
        $this->worker->end();
        $this->worker->output()->discard();

        return true;
    }

    private function isAnswerDue(): bool
    {
        return $this->worker->request() !== null && !$this->worker->isAnswered();
    }

    private function completeAnswer(): void
    {
        $this->worker->output()->endBuffers();
        $this->closeSession();
        $this->worker->printed()->complete();
    }

    private function reset(): void
    {
        $this->endTimeLimit();
        $this->superglobals->clear();
        SapiHead::reset();
        $this->handlers->settle();
    }

    private function startTimeLimit(): void
    {
        $now = \hrtime(true);
        if ($now - $this->limitedAt > self::LIMIT_SLACK_NANOS) {
            \set_time_limit((int) $this->timeLimit);
            $this->limitedAt = $now;
        }
    }

    private function endTimeLimit(): void
    {
        $limit = \ini_get('max_execution_time');
        if ($limit !== '0' && ($limit !== $this->timeLimit || !self::LIMIT_COUNTS_CPU)) {
            \set_time_limit(0);
            $this->limitedAt = 0;
        }
    }

    private function closeSession(): void
    {
        if (\function_exists('session_status') && \session_status() === \PHP_SESSION_ACTIVE) {
            \session_write_close();
        }
    }

    /** Ends the life of the script's variables; their destructors run now. */
    private function unsetGlobals(): void
    {
        foreach (\array_keys(\array_diff_key($GLOBALS, $this->globals)) as $name) {
            unset($GLOBALS[$name]);
        }
    }
}
