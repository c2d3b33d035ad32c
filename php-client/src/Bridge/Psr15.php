<?php

declare(strict_types=1);

namespace Cetane\Bridge;

use Cetane\Lambda\HttpEvent;
use Cetane\Request;
use Cetane\Response;
use Cetane\Worker;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestFactoryInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;
use Psr\Http\Message\UploadedFileFactoryInterface;
use Psr\Http\Message\UploadedFileInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Serves a PSR-15 application with any PSR-7 implementation:
 *
 *     $factory = new Nyholm\Psr7\Factory\Psr17Factory();
 *     (new Psr15($handler, $factory, $factory))->run();
 */
final class Psr15
{
    /** Bodies up to this size are sent as a whole. */
    private const WHOLE_BYTES = 65_536;
    private const CHUNK_BYTES = 65_536;

    private readonly ?UploadedFileFactoryInterface $uploads;

    /**
     * @param RequestHandlerInterface|\Closure(ServerRequestInterface): ResponseInterface $handler
     * @param UploadedFileFactoryInterface|null $uploads null: one of the other two factories, if it is that too; else there are no
     *     uploaded files
     */
    public function __construct(
        private readonly RequestHandlerInterface|\Closure $handler,
        private readonly ServerRequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        ?UploadedFileFactoryInterface $uploads = null,
    ) {
        foreach ([$requests, $streams] as $factory) {
            $uploads ??= $factory instanceof UploadedFileFactoryInterface ? $factory : null;
        }
        $this->uploads = $uploads;
    }

    /** Answers requests until the supervisor says stop; an exception that leaves the handler is a 500. */
    public function run(): void
    {
        Worker::run($this->handle(...));
    }

    public function handle(Request $request): Response
    {
        $handler = $this->handler;
        $message = $this->message($request);

        return $this->response($handler instanceof \Closure ? $handler($message) : $handler->handle($message));
    }

    /** The request as a PSR-7 message, on AWS Lambda with the attributes that {@see HttpEvent} tells of. A large body stays in its file. */
    public function message(Request $request): ServerRequestInterface
    {
        $server = $request->server();
        $message = $this->requests->createServerRequest($request->method(), self::uri($server, $request->uri()), $server);
        foreach ($request->headers() as $name => $value) {
            $message = $message->withHeader((string) $name, $value);
        }
        $version = \substr($server['SERVER_PROTOCOL'] ?? 'HTTP/1.1', 5);
        if ($version !== $message->getProtocolVersion()) {
            $message = $message->withProtocolVersion($version);
        }
        if ($request->queryString() !== '') {
            $message = $message->withQueryParams($request->query());
        }
        if (isset($server['HTTP_COOKIE'])) {
            $message = $message->withCookieParams($request->cookies());
        }
        if ($request->multipart() !== null) {
            $message = $message->withParsedBody($request->form());
            if ($this->uploads !== null) {
                $message = $message->withUploadedFiles($this->uploadedFiles($request->files()));
            }
        } elseif ($request->bodyLength() > 0) {
            $message = $message->withBody($this->streams->createStreamFromResource($request->bodyStream()));
            $form = $request->form();
            if ($form !== []) {
                $message = $message->withParsedBody($form);
            }
        }

        return isset($server['LAMBDA_INVOCATION_CONTEXT']) ? self::withEvent($message, HttpEvent::of($server)) : $message;
    }

    private static function withEvent(ServerRequestInterface $message, HttpEvent $event): ServerRequestInterface
    {
        foreach ($event->pathParameters as $name => $value) {
            $message = $message->withAttribute((string) $name, $value);
        }

        return $message->withAttribute('lambda-event', $event)->withAttribute('lambda-context', $event->context);
    }

    /** The answer, its body read in pieces when it is large or of unknown length. */
    public function response(ResponseInterface $response): Response
    {
        $body = $response->getBody();
        $size = $body->getSize();
        if ($body->isSeekable()) {
            $body->rewind();
            $whole = $size !== null && $size <= self::WHOLE_BYTES;
        } else {
            // It may have been read from: the rest is shorter than the size.
            $size = null;
            $whole = false;
        }

        return new Response(
            $response->getStatusCode(),
            $response->getHeaders(),
            $whole ? $body->getContents() : self::pieces($body),
            $response->getReasonPhrase(),
            $size,
        );
    }

    /** @return \Generator<string> */
    private static function pieces(StreamInterface $body): \Generator
    {
        try {
            while (!$body->eof()) {
                yield $body->read(self::CHUNK_BYTES);
            }
        } finally {
            $body->close();
        }
    }

    /**
     * @param array<int|string, array<string, mixed>> $files as $_FILES
     *
     * @return array<int|string, mixed> the same tree, an object for each file
     */
    private function uploadedFiles(array $files): array
    {
        return \array_map(
            fn (array $file): mixed => $this->uploadedFile(
                $file['tmp_name'] ?? '',
                $file['size'] ?? 0,
                $file['error'] ?? 0,
                $file['name'] ?? '',
                $file['type'] ?? '',
            ),
            $files,
        );
    }

    /** One column of each file, or the same level of each column's tree. */
    private function uploadedFile(mixed $path, mixed $size, mixed $error, mixed $name, mixed $type): mixed
    {
        if (\is_array($path)) {
            $files = [];
            foreach ($path as $key => $inner) {
                $files[$key] = $this->uploadedFile($inner, $size[$key] ?? 0, $error[$key] ?? 0, $name[$key] ?? '', $type[$key] ?? '');
            }

            return $files;
        }
        $stream = $error === \UPLOAD_ERR_OK ? $this->streams->createStreamFromFile($path) : $this->streams->createStream();

        return $this->uploads->createUploadedFile($stream, $size, $error, $name, $type);
    }

    /** @param array<int|string, mixed> $server */
    private static function uri(array $server, string $target): string
    {
        if (!\str_starts_with($target, '/')) {
            // "*" of OPTIONS has no path; a proxy's absolute form is a URI already.
            return \str_contains($target, '://') ? $target : self::origin($server);
        }

        return self::origin($server) . $target;
    }

    /** @param array<int|string, mixed> $server */
    private static function origin(array $server): string
    {
        $https = $server['HTTPS'] ?? '';
        $scheme = $https !== '' && \strcasecmp($https, 'off') !== 0 ? 'https' : $server['REQUEST_SCHEME'] ?? 'http';

        return $scheme . '://' . ($server['HTTP_HOST'] ?? $server['SERVER_NAME'] ?? 'localhost');
    }
}
