<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Connection;
use Cetane\Protocol\ConnectionLost;
use Cetane\Protocol\Frame;
use Cetane\Protocol\Text;

/**
 * Answers the running request when PHP ends under it: exit, a fatal error, no memory left.
 *
 * PHP runs shutdown functions, then destructors, then ends the output buffers. A request of a front controller is answered in the last
 * step, where everything that the application prints on its way out is there; a fatal error under another handler is reported in the
 * first one. Each step may be cut short by another exit, so the last one (the end of the outermost buffer) does not rely on those before it.
 *
 * @internal
 */
final class Shutdown
{
    private const FATAL = \E_ERROR | \E_PARSE | \E_CORE_ERROR | \E_COMPILE_ERROR | \E_USER_ERROR | \E_RECOVERABLE_ERROR;

    private static ?self $current = null;

    public readonly ShutdownFunctions $functions;
    /** Given back when memory has run out, so that there is some for the report, whatever PHP itself grants then. */
    private ?string $reserve;
    private readonly int $pid;
    private bool $begun = false;
    /** @var array{type: int, message: string, file: string, line: int}|null what has ended a front controller */
    private ?array $fatal = null;

    public function __construct(private readonly Worker $worker, private readonly Connection $connection)
    {
        $this->reserve = \str_repeat("\0", 524_288);
        $this->pid = (int) \getmypid();
        $this->functions = new ShutdownFunctions();
        // Nothing may have to be loaded when there is no memory for it.
        \class_exists(Frame::class);
        \class_exists(ConnectionLost::class);
        \class_exists(Text::class);
        \class_exists(SapiHead::class);
        \class_exists(HeaderFields::class);
        \class_exists(FrontController::class);
        \class_exists(Loading::class);
        self::$current = $this;
        if ((new \ReflectionFunction('register_shutdown_function'))->isUserDefined()) {
            \session_register_shutdown(); // registers session_write_close(), which calls begin(): see functions.php
        } else {
            \register_shutdown_function($this->begin(...));
        }
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** The first step, before the application's own shutdown functions. False when it is not the first call. */
    public function begin(): bool
    {
        if ($this->begun) {
            return false;
        }
        $this->begun = true;
        $this->reserve = null;
        if ($this->pid !== \getmypid()) {
            return true; // a child that the application forked: the streams are its parent's
        }
        $error = \error_get_last();
        $fatal = $error !== null && ($error['type'] & self::FATAL) !== 0 ? $error : null;
        if ($fatal !== null) {
            // The limit has done its duty. What follows needs little and must not fail.
            @\ini_set('memory_limit', '-1');
        }
        try {
            if ($this->connection->isBooting()) {
                $this->failBoot($fatal);
            } elseif (
                $fatal !== null
                && FrontController::current() !== null
                && $this->connection->isHeadDue()
                && !self::hasEndedOutput($fatal)
            ) {
                $this->fatal = $fatal;
                $this->worker->output()->revive();
            } elseif ($fatal !== null) {
                $this->worker->output()->discard();
                $this->fail($fatal);
                if (!self::hasEndedOutput($fatal)) {
                    // Without memory PHP has dropped the outermost buffer too, and frameworks print an error page now.
                    \ob_start(static fn (): string => '');
                }
                \register_shutdown_function(SapiHead::silence(...));
            } elseif ($this->connection->isInRequest()) {
                \register_shutdown_function($this->worker->output()->endBuffers(...));
            }
        } catch (ConnectionLost) {
            // Nobody is left to be told.
        }
        $this->functions->runLast();

        return true;
    }

    /**
     * Whether an output callback has used output buffers. PHP then ends all output for good: what is printed reaches no buffer, and another
     * ob_start() is a segmentation fault of PHP (seen with 8.2), in shutdown functions of the application too.
     *
     * @param array{type: int, message: string, file: string, line: int} $fatal
     */
    private static function hasEndedOutput(array $fatal): bool
    {
        return \str_contains($fatal['message'], 'output buffering in output buffering');
    }

    /** @param array{type: int, message: string, file: string, line: int}|null $fatal */
    private function failBoot(?array $fatal): void
    {
        $this->worker->output()->toLog();
        $this->connection->error(Frame::ERROR_BOOT, $fatal === null
            ? 'the script ended, or called exit, before it was ready for requests'
            : self::describe($fatal));
        $this->connection->flush();
        $code = $fatal === null ? 1 : 255;
        \register_shutdown_function(static fn () => exit($code));
    }

    /** The last step, called from the end of the outermost output buffer. */
    public function end(): void
    {
        try {
            if ($this->connection->isInRequest()) {
                if (!$this->connection->isDoneDue()) {
                    $this->answer();
                }
                $this->worker->done(last: true);
            } else {
                $this->worker->output()->toLog();
            }
        } catch (ConnectionLost) {
            // Nobody is left to be told.
        }
        SapiHead::silence();
    }

    private function answer(): void
    {
        try {
            // An answer that was printed is one to an HTTP client alone.
            if ($this->worker->isInJob() || $this->worker->request()?->isEvent === true) {
                [$kind, $message] = $this->fatal === null
                    ? [Frame::ERROR_EXCEPTION, 'it has ended its process with exit() or die()']
                    : [Frame::ERROR_FATAL, self::describe($this->fatal)];
                $this->connection->error($kind, $message);

                return;
            }
            if (\function_exists('session_status') && \session_status() === \PHP_SESSION_ACTIVE) {
                \session_write_close();
            }
            if ($this->fatal !== null && $this->worker->printed()->isEmpty()) {
                $this->connection->error(Frame::ERROR_FATAL, self::describe($this->fatal));

                return;
            }
            $this->worker->printed()->complete();
            $this->connection->end();
        } catch (ConnectionLost $lost) {
            throw $lost;
        } catch (\Throwable $error) {
            $this->connection->error(Frame::ERROR_EXCEPTION, (string) $error);
        }
    }

    /** @param array{type: int, message: string, file: string, line: int} $error */
    private function fail(array $error): void
    {
        if ($this->connection->isDoneDue()) {
            $this->connection->log(2, self::describe($error));
        } elseif ($this->connection->isInRequest()) {
            $this->connection->error(Frame::ERROR_FATAL, self::describe($error));
        } else {
            return; // PHP has written it to the log already
        }
        $this->worker->done(last: true);
    }

    /** @param array{type: int, message: string, file: string, line: int} $error */
    private static function describe(array $error): string
    {
        // An uncaught exception's message names its place itself.
        return \str_starts_with($error['message'], 'Uncaught ')
            ? $error['message']
            : "{$error['message']} in {$error['file']} on line {$error['line']}";
    }
}
