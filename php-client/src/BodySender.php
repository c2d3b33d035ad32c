<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Connection;

/**
 * Sends the bodies that are not plain strings, piece by piece; END is left to the caller.
 *
 * @internal
 */
final class BodySender
{
    private const CHUNK_BYTES = 65_536;

    public function __construct(
        private readonly Worker $worker,
        private readonly Connection $connection,
        private readonly Output $output,
        private readonly bool $canSendFiles,
    ) {
    }

    /** @throws ClientLeft when the client has left before the end */
    public function send(Response $response): void
    {
        $body = $response->body;
        $lines = $response->lines();
        $length = match (true) {
            $body instanceof FileBody => $body->length,
            $body instanceof \Stringable => \strlen($body = (string) $body),
            $response->length !== null => $response->length,
            default => self::contentLength($lines),
        };
        if ($this->worker->request()?->method() === 'HEAD' && !\is_string($body)) {
            // Nobody reads the body, so nobody makes it; its length is told in the field.
            if ($length >= 0 && self::contentLength($lines) < 0) {
                $lines[] = "Content-Length: $length";
            }
            $this->connection->head($response->status, $lines, -1, $response->reason);

            return;
        }
        $this->connection->head($response->status, $lines, $length, $response->reason);
        $this->body($body);
    }

    private function body(mixed $body): void
    {
        match (true) {
            \is_string($body) => $this->connection->data($body),
            $body instanceof FileBody => $this->file($body),
            $body instanceof \Closure => $this->printed($body),
            \is_resource($body) => $this->stream($body, \PHP_INT_MAX),
            \is_iterable($body) => $this->pieces($body),
            $body === null => null,
            default => throw new \InvalidArgumentException('No body can be made of ' . \get_debug_type($body) . '.'),
        };
    }

    private function file(FileBody $body): void
    {
        if ($this->canSendFiles) {
            $this->connection->file($body->path, $body->offset, $body->length, $body->delete);

            return;
        }
        $file = \fopen($body->path, 'rb') ?: throw new \RuntimeException("$body->path cannot be opened.");
        if ($body->delete) {
            \unlink($body->path);
        }
        \fseek($file, $body->offset);
        $this->stream($file, $body->length);
    }

    /** @param iterable<string|\Stringable> $pieces */
    private function pieces(iterable $pieces): void
    {
        foreach ($pieces as $piece) {
            $this->piece((string) $piece);
        }
    }

    /** @param resource $stream */
    private function stream($stream, int $length): void
    {
        while ($length > 0 && !\feof($stream)) {
            $bytes = \fread($stream, \min($length, self::CHUNK_BYTES));
            if ($bytes === false) {
                throw new \RuntimeException('The stream of the body cannot be read.');
            }
            $length -= \strlen($bytes);
            $this->piece($bytes);
        }
    }

    private function printed(\Closure $body): void
    {
        $depth = $this->output->depth();
        $this->output->pour(function (string $bytes): void {
            $this->connection->data($bytes);
            $this->connection->flush();
        });
        $returned = $body();
        if (\is_iterable($returned)) {
            // A generator has not run yet, and prints between its pieces.
            foreach ($returned as $piece) {
                $this->piece($this->output->takeHeld() . $piece);
            }
            $returned = null;
        }
        while ($this->output->depth() > $depth) {
            \ob_end_flush();
        }
        $rest = $this->output->takeHeld();
        if ($rest !== '') {
            $this->connection->data($rest);
        }
        if ($returned !== null && !\is_bool($returned) && !\is_int($returned)) {
            $this->body($returned);
        }
    }

    private function piece(string $bytes): void
    {
        if ($bytes === '') {
            return;
        }
        $this->connection->data($bytes);
        $this->connection->flush();
        if ($this->worker->isCancelled()) {
            throw new ClientLeft('The client left while its answer was streamed.');
        }
    }

    /** @param list<string> $lines */
    private static function contentLength(array $lines): int
    {
        foreach ($lines as $line) {
            if (\strncasecmp($line, 'content-length:', 15) === 0) {
                $value = \trim(\substr($line, 15));

                return \ctype_digit($value) && \strlen($value) < 19 ? (int) $value : -1;
            }
        }

        return -1;
    }
}
