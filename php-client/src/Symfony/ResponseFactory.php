<?php

declare(strict_types=1);

namespace Cetane\Symfony;

use Cetane\ClientLeft;
use Cetane\FileBody;
use Cetane\HeaderFields;
use Cetane\Response as WorkerResponse;
use Closure;
use ReflectionMethod;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Throwable;

/**
 * Makes the worker's response from that of Symfony or Laravel, whose own `send()` depends on the SAPI.
 *
 * @internal
 */
final class ResponseFactory
{
    /**
     * A StreamedResponse stays a stream, and where its callback yields or returns strings, they are sent. A file becomes a {@see FileBody}, with its
     * range and with its wish to be deleted.
     *
     * @param bool                        $head   whether a HEAD request is answered: the body is left out, its length stays as the application gave it
     * @param Closure(Throwable): ?string $report is told what a body throws while it is produced; what it returns ends the body, without that the
     *                                            exception fails the answer
     */
    public static function create(Response $response, bool $head, Closure $report): WorkerResponse
    {
        if ($response instanceof BinaryFileResponse && !$response->isSuccessful()) {
            // A range that cannot be satisfied: the length is still that of the file, which is not sent.
            $response->headers->remove('Content-Length');
        }
        $headers = $response->headers->allPreserveCaseWithoutCookies();
        foreach ($response->headers->getCookies() as $cookie) {
            $headers['Set-Cookie'][] = (string) $cookie;
        }

        return new WorkerResponse($response->getStatusCode(), HeaderFields::besides($headers), self::body($response, $head, $report), self::reason($response));
    }

    /**
     * @param Closure(Throwable): ?string $report
     *
     * @return string|FileBody|Closure(): iterable<string>|array{}
     */
    private static function body(Response $response, bool $head, Closure $report): string|FileBody|Closure|array
    {
        if ($response instanceof BinaryFileResponse) {
            // Without a body to send, sendContent() still deletes the file.
            return self::file($response) ?? self::produced($response->sendContent(...), $report);
        }
        if ($head || $response->isEmpty()) {
            return [];
        }
        $sends = (new ReflectionMethod($response, 'sendContent'))->class;
        if ($sends === Response::class) {
            return (string) $response->getContent();
        }
        $callback = $sends === StreamedResponse::class
            ? Closure::bind(fn (): ?callable => $this->callback, $response, StreamedResponse::class)()
            : $response->sendContent(...);

        return $callback === null ? '' : self::produced($callback, $report);
    }

    private static function file(BinaryFileResponse $response): ?FileBody
    {
        [$offset, $length, $delete, $temporary] = Closure::bind(
            fn (): array => [$this->offset, $this->maxlen, $this->deleteFileAfterSend, $this->tempFileObject ?? null],
            $response,
            BinaryFileResponse::class
        )();
        if (!$response->isSuccessful() || $length === 0 || $temporary !== null) {
            return null;
        }

        return new FileBody($response->getFile()->getPathname(), $offset, $length < 0 ? null : $length, $delete);
    }

    /**
     * @param Closure(Throwable): ?string $report
     *
     * @return Closure(): iterable<string>
     */
    private static function produced(callable $callback, Closure $report): Closure
    {
        return static function () use ($callback, $report): iterable {
            // As with output_buffering under a web SAPI: ob_flush() finds a buffer. It holds nothing back.
            ob_start(null, 1);
            $level = count(ob_list_handlers());
            try {
                $pieces = $callback();
                if (is_iterable($pieces)) {
                    foreach ($pieces as $piece) {
                        yield (string) $piece;
                    }
                } elseif (is_string($pieces)) {
                    yield $pieces;
                }
            } catch (ClientLeft $left) {
                throw $left;
            } catch (Throwable $problem) {
                $end = $report($problem);
                self::endBuffers($level, $end === null ? ob_end_clean(...) : ob_end_flush(...));
                yield $end ?? throw $problem;

                return;
            }
            self::endBuffers($level, ob_end_flush(...));
        };
    }

    /** Not in a `finally`: who is left in the middle, because nobody reads on, may be destroyed when these buffers are long gone and others are open. */
    private static function endBuffers(int $level, Closure $end): void
    {
        while (count(ob_list_handlers()) >= $level && @$end()) {
            continue;
        }
    }

    /**
     * The text behind the status, where the application chose another than the usual one.
     */
    private static function reason(Response $response): string
    {
        $text = Closure::bind(fn (): string => $this->statusText, $response, Response::class)();

        return $text === (Response::$statusTexts[$response->getStatusCode()] ?? 'unknown status') ? '' : $text;
    }
}
