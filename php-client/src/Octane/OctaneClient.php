<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\ClientLeft;
use Cetane\Laravel\Printed;
use Cetane\Laravel\RequestFactory;
use Cetane\Protocol\ConnectionLost;
use Cetane\Request as WorkerRequest;
use Cetane\Response as WorkerResponse;
use Cetane\Superglobals;
use Cetane\Symfony\ResponseFactory;
use Cetane\Worker;
use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Laravel\Octane\Contracts\Client;
use Laravel\Octane\Contracts\StoppableClient;
use Laravel\Octane\Octane;
use Laravel\Octane\OctaneResponse;
use Laravel\Octane\RequestContext;
use Symfony\Component\HttpFoundation\Response;
use Throwable;

/**
 * Octane's client for Cetane: what Octane's own worker gives its responses to.
 *
 * The context of a request has one key, `cetaneRequest`, a {@see WorkerRequest}. {@see respond()} returns when the last byte of the answer has left,
 * so that terminable middleware costs the client nothing; the worker is free once {@see OctaneWorker} says so.
 */
final class OctaneClient implements Client, StoppableClient
{
    private ?Superglobals $superglobals = null;

    public function __construct(private readonly Worker $worker)
    {
    }

    /**
     * Fills the superglobals as php-fpm would, and makes Laravel's request of the same parts. Not before the application is booted: what the
     * process' environment is then, `.env` included, is part of `$_SERVER` in each request.
     *
     * @return array{Request, RequestContext}
     */
    public function marshalRequest(RequestContext $context): array
    {
        $request = $context['cetaneRequest'];
        $this->superglobals ??= new Superglobals(isBooted: true);
        $this->superglobals->fill($request);
        $_SERVER['VAR_DUMPER_FORMAT'] ??= 'html';
        // Under the cli SAPI the status is kept from one request to the next, and an exit() would answer with it.
        http_response_code(200);
        $body = $request->bodyFile() === null ? $request->body() : $request->bodyStream();

        return [RequestFactory::create($_SERVER, $_GET, $_POST, $_COOKIE, $_FILES, $body), $context];
    }

    /**
     * Sends the response: status and header as set, then what was printed, then its content, piece by piece if it is streamed.
     *
     * What a streamed body throws is reported and cuts the connection, as the head has left. It does not reach Octane, for which it would be an
     * error of the worker: terminable middleware runs, and the worker lives. So it does when the client has left, which ends the callback.
     *
     * @throws Throwable if no head can be made of the response
     */
    public function respond(RequestContext $context, OctaneResponse $response): void
    {
        if ((string) $response->outputBuffer !== '') {
            Printed::before($response->outputBuffer, $response->response);
        }
        try {
            $this->worker->respond($this->answer($response->response, $context['cetaneRequest']->method() === 'HEAD'));
        } catch (ConnectionLost) {
            // Nobody is left to read it; the next wait ends the worker.
        } catch (Throwable $problem) {
            if (!$problem instanceof ClientLeft && $this->worker->isHeadDue()) {
                throw $problem;
            }
            $this->worker->failAnswer($problem);
        }
    }

    /**
     * Answers 500 with Octane's own text; cuts the connection if the head of an answer has left.
     */
    public function error(Throwable $e, Application $app, Request $request, RequestContext $context): void
    {
        if (!$this->worker->isHeadDue()) {
            $this->worker->failAnswer($e);

            return;
        }
        $this->worker->output()->dropBuffers();
        $text = Octane::formatExceptionForClient($e, (bool) $app->make('config')->get('app.debug'));
        $this->worker->respond(new WorkerResponse(500, ['Content-Type' => 'text/plain; charset=UTF-8'], $text));
    }

    /**
     * Octane asks for this when an error may have left the application in an unknown state: the running request is the last one of this process,
     * another takes its place.
     */
    public function stop(): void
    {
        $this->worker->retire();
    }

    /**
     * The request is over: nothing of it stays in the superglobals.
     *
     * @return bool whether it has had a session of PHP's own
     */
    public function forgetRequest(): bool
    {
        return $this->superglobals?->clear() === true;
    }

    private function answer(Response $response, bool $isHead): WorkerResponse
    {
        if (!SendFile::isAskedFor($response)) {
            return ResponseFactory::create($response, $isHead, self::problemInBody(...));
        }
        $app = Container::getInstance();

        return SendFile::answer($response, $app->make('config')->get('cetane.sendfile') ?? [$app->storagePath() . '/app']);
    }

    /** The dump of dd() ends the body; everything else fails the answer. */
    private static function problemInBody(Throwable $problem): ?string
    {
        if ($problem instanceof OctanesDumpAndDie) {
            return $problem->dump();
        }
        Container::getInstance()->make(ExceptionHandler::class)->report($problem);

        return null;
    }
}
