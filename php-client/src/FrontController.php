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
    private readonly Handlers $handlers;
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
        $this->exchange->begin($request);

        return true;
    }

    /** The script has returned: its variables end, what they print included, and the answer leaves. */
    public function finish(): void
    {
        try {
            $this->unsetGlobals();
            if ($this->exchange->isAnswerDue()) {
                $this->exchange->completeAnswer();
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
        if ($handler !== null && !$error instanceof ClientLeft && $this->exchange->isAnswerDue()) {
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

    private function reset(): void
    {
        $this->exchange->relax();
        $this->exchange->clear();
        $this->handlers->settle();
    }

    /** Ends the life of the script's variables; their destructors run now. */
    private function unsetGlobals(): void
    {
        foreach (\array_keys($GLOBALS) as $name) {
            if (!isset($this->globals[$name])) {
                unset($GLOBALS[$name]);
            }
        }
    }
}
