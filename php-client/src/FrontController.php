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
    private static ?self $current = null;

    private readonly SapiExchange $exchange;
    private readonly ProcessState $state;
    private readonly string $directory;
    private bool $servesOnce = false;
    /** @var array<string, true> names of the global variables that are not the application's */
    private array $globals;

    public function __construct(private readonly Worker $worker, public readonly string $script)
    {
        if (!\is_file($script) || !\is_readable($script)) {
            throw new \RuntimeException("The front controller $script is no readable file.");
        }
        $this->directory = \dirname($script);
        $declaration = TopLevelDeclaration::find($script);
        if ($declaration !== null) {
            $this->servesOnce = true;
            $worker->log('warning', "$script declares $declaration at its top level, and PHP can't declare it again for the next request: "
                . 'each worker serves one request only, which is slow. Move it to a file that is loaded with require_once.');
        }
        $this->exchange = new SapiExchange($worker);
        $this->state = new ProcessState($worker);
        // Those of the process, which php-cgi takes for a query too. A request's are in $_SERVER, if anywhere.
        unset($GLOBALS['argv'], $GLOBALS['argc']);
        $_GET = $_REQUEST = [];
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
        $this->exchange->begin($request);

        return true;
    }

    /** The script has returned: its shutdown functions run, its variables end, what they print included, and the answer leaves. */
    public function finish(): void
    {
        $this->end(null);
    }

    /** An exception has left the script: its own handler gets it, as it does in PHP. Without one, or when that throws, the request fails. */
    public function fail(\Throwable $error): void
    {
        if ($error instanceof ClientLeft) {
            $this->end($error);

            return;
        }
        $handler = \set_exception_handler(null);
        \restore_exception_handler();
        if ($handler !== null) {
            try {
                $handler($error);
                $this->end(null);

                return;
            } catch (\Throwable $another) {
                $error = $another;
            }
        }
        $this->show($error);
        $this->end($error);
    }

    /** The end of a request in the order of PHP. What fails on the way fails the request, but does not keep the rest from being done. */
    private function end(?\Throwable $failure): void
    {
        for ($step = 0; $step < 4; $step++) {
            try {
                match ($step) {
                    0 => Shutdown::current()->functions->run(),
                    1 => $this->unsetGlobals(),
                    2 => $this->endBuffers(),
                    3 => $this->exchange->closeSession(),
                };
            } catch (\Throwable $error) {
                if ($failure === null) {
                    $failure = $error;
                    $this->show($error);
                } elseif (!$error instanceof ClientLeft) {
                    $this->worker->log('error', (string) $error);
                }
            }
        }
        try {
            $this->answer($failure);
        } catch (ConnectionLost) {
            // The next begin() ends the worker.
        } catch (\Throwable $error) {
            $this->worker->fail($error); // what the script has set is no answer
        }
        $this->reset();
    }

    private function answer(?\Throwable $failure): void
    {
        if ($failure === null || ($this->worker->isHeadDue() && $this->hasAnswer() && !$failure instanceof ClientLeft)) {
            if ($this->exchange->isAnswerDue()) {
                $this->worker->printed()->complete();
            }
            if ($failure !== null) {
                $this->worker->log('error', self::uncaught($failure));
            }
            $this->worker->finish();
        } else {
            if ($this->exchange->isAnswerDue() && $this->worker->isHeadSent() && !$failure instanceof ClientLeft) {
                $this->worker->printed()->complete();
            }
            $this->worker->fail($failure);
        }
    }

    /** Whether a request that has failed has an answer of its own: something printed, or a status that is not the one of failures. */
    private function hasAnswer(): bool
    {
        return !$this->worker->printed()->isEmpty() || \http_response_code() !== 500;
    }

    /** What PHP does with an exception that nobody has caught. */
    private function show(\Throwable $error): void
    {
        if (!$this->worker->isHeadDue() || $error instanceof ClientLeft) {
            return;
        }
        if (\http_response_code() === 200) {
            \http_response_code(500);
        }
        if ((bool) \ini_get('display_errors')) {
            $isParseError = $error instanceof \ParseError;
            $message = $isParseError ? $error->getMessage() : self::uncaught($error) . "\n  thrown";
            \printf(
                (bool) \ini_get('html_errors')
                    ? "%s<br />\n<b>%s</b>:  %s in <b>%s</b> on line <b>%d</b><br />\n%s"
                    : "%s\n%s: %s in %s on line %d\n%s",
                \ini_get('error_prepend_string'),
                $isParseError ? 'Parse error' : 'Fatal error',
                (bool) \ini_get('html_errors') && !$isParseError ? \htmlspecialchars($message, \ENT_QUOTES | \ENT_SUBSTITUTE) : $message,
                $error->getFile(),
                $error->getLine(),
                \ini_get('error_append_string'),
            );
        }
    }

    /** As PHP says it: the front controller is at the bottom of the stack. */
    private static function uncaught(\Throwable $error): string
    {
        return 'Uncaught ' . \preg_replace('/^#(\d+) .*[\/\\\\]cetane-worker\.php\(\d+\): require\(.*\)\n#\d+ \{main\}$/m', '#$1 {main}', (string) $error);
    }

    private function endBuffers(): void
    {
        if (!$this->worker->output()->endBuffers() && $this->exchange->isAnswerDue()) {
            $this->worker->log('warning', 'An output buffer cannot be removed, so this worker serves no further request.');
            exit; // only PHP itself can get at what the buffer holds
        }
    }

    private function reset(): void
    {
        $this->exchange->relax();
        $this->state->restore($this->exchange->clear());
    }

    /** Ends the life of the script's variables; their destructors run now. */
    private function unsetGlobals(): void
    {
        // From the last one to the first, as PHP does it.
        foreach (\array_reverse(\array_keys(\array_diff_key($GLOBALS, $this->globals))) as $name) {
            unset($GLOBALS[$name]);
        }
    }
}
