<?php

declare(strict_types=1);

namespace Cetane\Lambda;

use Cetane\Bridge\Psr15;
use Cetane\Request;
use Cetane\Response;
use Cetane\Worker;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Runs a function for the events of AWS Lambda:
 *
 *     Handler::run(fn (mixed $event, Context $context) => ['hello' => $event['name']]);
 *
 * The function is called with the event, decoded from JSON with objects as arrays, and its {@see Context}. What it returns becomes JSON; a
 * generator of strings is an answer that is streamed, where the function's configuration says so. An exception is the invocation's error, with its class as
 * the type, and the worker lives on.
 *
 * A PSR-15 handler gets HTTP events as requests. {@see SqsBatch} handles the messages of a queue one by one.
 */
final class Handler
{
    private const JSON = \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE | \JSON_PRESERVE_ZERO_FRACTION;

    private readonly ?\Closure $function;
    private readonly ?\Closure $http;

    /**
     * @param callable|object|string $handler a callable, a PSR-15 handler, or the path of a PHP file that returns one
     * @param (callable(mixed, Context): mixed)|null $events beside a PSR-15 handler: takes all other events
     *
     * @throws \InvalidArgumentException for anything else
     */
    public function __construct(callable|object|string $handler, ?callable $events = null)
    {
        if (\is_string($handler) && !\is_callable($handler)) {
            $handler = require $handler;
        }
        if ($handler instanceof RequestHandlerInterface) {
            $this->http = self::psr15($handler)->handle(...);
            $this->function = $events === null ? null : $events(...);
        } elseif (\is_callable($handler)) {
            $this->http = null;
            $this->function = $handler(...);
        } else {
            throw new \InvalidArgumentException(
                'A handler is a callable or a PSR-15 RequestHandlerInterface, not ' . \get_debug_type($handler) . '.'
            );
        }
    }

    /** Handles one event after the other until the supervisor says stop. Parameters as for the constructor. */
    public static function run(callable|object|string $handler, ?callable $events = null): void
    {
        $self = new self($handler, $events);
        $worker = Worker::connect();
        if ($self->function !== null) {
            $worker->takeEvents($self->http === null);
        }
        Worker::run($self->handle(...));
    }

    /** @internal */
    public function handle(Request $request, Worker $worker): Response
    {
        if (!$request->isEvent) {
            return $this->http === null
                ? new Response(501, ['Content-Type' => 'text/plain'], "This function takes events of AWS Lambda, no HTTP requests.\n")
                : ($this->http)($request);
        }

        return self::answer($request, $worker, $this->function ?? throw new \LogicException('An event came though none was asked for.'));
    }

    /**
     * Calls a function with an event and makes an answer of what it returns or throws.
     *
     * @param \Closure(mixed, Context): mixed $function
     *
     * @internal for handlers that ship with the client
     */
    public static function answer(Request $event, Worker $worker, \Closure $function): Response
    {
        $context = Context::of($event);
        $_SERVER['LAMBDA_INVOCATION_CONTEXT'] = $context->toJson();
        $_SERVER['LAMBDA_REQUEST_ID'] = $context->requestId;
        $_SERVER['_X_AMZN_TRACE_ID'] = $context->traceId;
        try {
            $body = $event->body();
            $result = $function($body === '' ? null : \json_decode($body, true, 512, \JSON_THROW_ON_ERROR), $context);
            if ($result instanceof \Generator) {
                return new Response(200, ['Content-Type' => 'application/octet-stream'], $result);
            }

            return new Response(200, ['Content-Type' => 'application/json'], \json_encode($result, self::JSON));
        } catch (\Throwable $error) {
            $worker->log('error', (string) $error);

            return self::error($error);
        }
    }

    private static function error(\Throwable $error): Response
    {
        $description = self::describe($error);
        $class = \substr((string) \strrchr('\\' . $error::class, '\\'), 1);

        return new Response(
            500,
            ['Content-Type' => 'application/json', 'Error-Type' => \ucfirst(\preg_replace('/[^A-Za-z0-9]/', '', $class) ?? '')],
            (string) \json_encode($description, \JSON_UNESCAPED_SLASHES | \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_PARTIAL_OUTPUT_ON_ERROR),
        );
    }

    /** @return array<string, mixed> */
    private static function describe(\Throwable $error): array
    {
        $trace = \explode("\n", $error->getTraceAsString());
        $description = [
            'errorType' => $error::class,
            'errorMessage' => $error->getMessage(),
            'stackTrace' => ["{$error->getFile()}:{$error->getLine()}", ...\array_slice($trace, 0, 50)],
        ];
        if ($error->getPrevious() !== null) {
            $description['previous'] = self::describe($error->getPrevious());
        }

        return $description;
    }

    private static function psr15(RequestHandlerInterface $handler): Psr15
    {
        foreach (['Nyholm\Psr7\Factory\Psr17Factory', 'GuzzleHttp\Psr7\HttpFactory'] as $class) {
            if (\class_exists($class)) {
                $factory = new $class();

                return new Psr15($handler, $factory, $factory);
            }
        }
        throw new \RuntimeException('A PSR-15 handler needs nyholm/psr7 or guzzlehttp/psr7; with another implementation use Cetane\Bridge\Psr15.');
    }
}
