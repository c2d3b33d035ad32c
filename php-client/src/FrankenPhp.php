<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Runs a worker script that was written for FrankenPHP: what frankenphp_handle_request() does. The script boots its application and calls it in
 * a loop; each call is one exchange. The answer is complete when the callback returns, the worker is free at the next call, so that what the
 * script does in between costs no client anything.
 *
 * @internal called by functions.php, which has the public names
 */
final class FrankenPhp
{
    private static ?self $current = null;

    private readonly SapiExchange $exchange;

    private function __construct(private readonly Worker $worker)
    {
        // A stream to a client that has left must not end the worker: such scripts rely on it.
        \ignore_user_abort(true);
        $this->exchange = new SapiExchange($worker);
        $_SERVER['SCRIPT_FILENAME'] ??= $worker->setting('script');
        // Programs that the application starts are no workers.
        \putenv('FRANKENPHP_WORKER');
    }

    /** Connects this process before its script runs, so that nothing that the boot prints is taken for an answer. */
    public static function start(): void
    {
        $worker = Worker::connect();
        if ($worker->setting('kind') !== 'frankenphp') {
            return;
        }
        if (\PHP_SAPI === 'cli') {
            $worker->fail(new \RuntimeException(
                'A worker script for FrankenPHP answers with echo and header(), which needs php-cgi; this is php (cli). Set app.php to a php-cgi.'
            ));
            exit(1);
        }
        self::$current = new self($worker);
    }

    /**
     * Waits for a request, fills the superglobals, calls the callback, and completes the answer. An exception that leaves the callback fails
     * the request (500).
     *
     * @return bool false when the script has to leave its loop
     *
     * @throws \RuntimeException when this process is no worker of kind frankenphp
     */
    public static function handleRequest(callable $callback): bool
    {
        if (self::$current === null) {
            throw new \RuntimeException(
                'frankenphp_handle_request() called while not in worker mode: serve this script with app.kind=frankenphp.'
            );
        }

        return self::$current->handle($callback(...));
    }

    private function handle(\Closure $callback): bool
    {
        $this->exchange->clear();
        $request = $this->worker->wait();
        if ($request === null) {
            return false;
        }
        $this->exchange->begin($request);
        try {
            // Extensions of FrankenPHP may hand something over; over HTTP there is nothing.
            (new \ReflectionFunction($callback))->getNumberOfRequiredParameters() === 0 ? $callback() : $callback(null);
            if ($this->exchange->isAnswerDue()) {
                $this->exchange->completeAnswer();
                $this->worker->end();
            }
        } catch (\Throwable $error) {
            $this->worker->failAnswer($error);
        }
        $this->exchange->relax();

        return true;
    }
}
