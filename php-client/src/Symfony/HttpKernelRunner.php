<?php

declare(strict_types=1);

namespace Cetane\Symfony;

use Cetane\Request as WorkerRequest;
use Cetane\Response as WorkerResponse;
use Cetane\Worker;
use Symfony\Component\HttpKernel\EventListener\StreamedResponseListener;
use Symfony\Component\HttpKernel\HttpCache\HttpCache;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\HttpKernel\KernelEvents;
use Symfony\Component\HttpKernel\KernelInterface;
use Symfony\Component\HttpKernel\RebootableInterface;
use Symfony\Component\HttpKernel\TerminableInterface;
use Throwable;

/**
 * Serves a Symfony kernel with the worker that this process is:
 *
 *     (new HttpKernelRunner(new Kernel('prod', false)))->run();
 *
 * The kernel is booted once. When the client has its answer the kernel terminates, services tagged `kernel.reset` are reset and a session that was
 * left open is closed.
 */
final class HttpKernelRunner
{
    /** @var array<int|string, mixed> */
    private readonly array $environment;

    /** @param bool $reboot whether the kernel is rebooted after each request: slow, for bundles that keep state which nothing resets */
    public function __construct(private readonly HttpKernelInterface $kernel, private readonly bool $reboot = false)
    {
        $_SERVER['APP_RUNTIME_MODE'] ??= 'web=1&worker=1';
        $this->environment = \array_diff_key($_SERVER, ['argv' => 0, 'argc' => 0, 'PHP_SELF' => 0, 'SCRIPT_NAME' => 0, 'PATH_TRANSLATED' => 0]);
    }

    /**
     * Answers requests until the supervisor says stop.
     *
     * If the kernel cannot be booted it does not return: the supervisor is told why, and the process ends with code 1.
     *
     * @return int exit code
     */
    public function run(): int
    {
        $worker = Worker::connect();
        try {
            $this->application()?->boot();
            $this->takeStreams();
        } catch (Throwable $problem) {
            // Not left to PHP: by now Symfony has taken over what is uncaught, and would print a page.
            $worker->fail($problem);
            exit(1);
        }
        Worker::run($this->answer(...));

        return 0;
    }

    private function answer(WorkerRequest $workerRequest, Worker $worker): WorkerResponse
    {
        $request = RequestFactory::create($workerRequest, $this->environment);
        $response = null;
        $worker->afterResponse(function () use ($request, &$response): void {
            if ($response !== null && $this->kernel instanceof TerminableInterface) {
                $this->kernel->terminate($request, $response);
            }
        });
        $worker->afterResponse(function () use ($worker): void {
            try {
                $this->reset();
            } catch (Throwable $problem) {
                $worker->retire();
                throw $problem;
            }
        });
        $response = $this->kernel->handle($request);

        // What a body throws is written to the log by the supervisor.
        return ResponseFactory::create($response, $workerRequest->method() === 'HEAD', static fn (): ?string => null);
    }

    private function reset(): void
    {
        $application = $this->application();
        if (!$this->reboot) {
            // A booted kernel that has handled a request resets its services then, if its container has services_resetter.
            $application?->boot();
        } elseif ($application instanceof RebootableInterface) {
            $application->reboot(null);
            $this->takeStreams();
        } elseif ($application !== null) {
            $application->shutdown();
            $application->boot();
            $this->takeStreams();
        }
        if (\function_exists('session_status')) {
            if (\session_status() === \PHP_SESSION_ACTIVE) {
                \session_write_close();
            }
            if (isset($_SESSION) || \session_id() !== '') {
                // PHP keeps both for the next request, which may be another client's.
                \session_id('');
                unset($_SESSION);
            }
        }
    }

    /** Until Symfony 6.1 a listener sends streamed responses while the kernel still handles the request, by means that only a web SAPI has. */
    private function takeStreams(): void
    {
        $container = $this->application()?->getContainer();
        if ($container === null || !\class_exists(StreamedResponseListener::class) || !$container->has('event_dispatcher')) {
            return;
        }
        $dispatcher = $container->get('event_dispatcher');
        foreach ($dispatcher->getListeners(KernelEvents::RESPONSE) as $listener) {
            if (\is_array($listener) && $listener[0] instanceof StreamedResponseListener) {
                $dispatcher->removeListener(KernelEvents::RESPONSE, $listener);
            }
        }
    }

    /** The application's kernel, behind its reverse proxy if it has one; null for a bare HttpKernel, which has nothing to boot. */
    private function application(): ?KernelInterface
    {
        $kernel = $this->kernel instanceof HttpCache ? $this->kernel->getKernel() : $this->kernel;

        return $kernel instanceof KernelInterface ? $kernel : null;
    }
}
