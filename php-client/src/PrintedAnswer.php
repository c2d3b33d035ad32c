<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Connection;

/** Makes an answer of what the application printed and of the status and fields that it set with header() and the like. */
final class PrintedAnswer
{
    /** A body up to this size is sent as a whole, with its length; a larger one is streamed. */
    private const WHOLE_BYTES = 131_072;

    private ?Request $request = null;
    private ?Superglobals $superglobals = null;
    private ?\Closure $beforeHead = null;
    /** @var (\Closure(string): void)|null */
    private ?\Closure $sink = null;

    public function __construct(private readonly Connection $connection, private readonly Output $output)
    {
    }

    /** The request is there: what is printed is held, for {@see complete()}. */
    public function hold(Request $request): void
    {
        $this->request = $request;
        $this->beforeHead = null;
        HeaderFields::clear();
        if ($this->sink === null) {
            $this->output->hold();
        } else {
            $this->output->stream($this->sink, self::WHOLE_BYTES);
        }
    }

    /** From the next request on flush() streams, and so does a large body. */
    public function stream(Superglobals $superglobals): void
    {
        $this->superglobals = $superglobals;
        $this->sink = $this->send(...);
    }

    /** The application's header_register_callback(): the last one counts, and runs once. */
    public function beforeHead(\Closure $callback): void
    {
        $this->beforeHead = $callback;
    }

    /** Whether nothing is printed or sent. */
    public function isEmpty(): bool
    {
        return $this->connection->isHeadDue() && $this->output->isEmpty();
    }

    /** Completes the answer but for END. */
    public function complete(): void
    {
        $body = $this->output->takeHeld();
        if ($this->connection->isHeadDue()) {
            $head = $this->head();
            // An answer to HEAD may name the length of a body that it does not have.
            $length = $body === '' && $head->contentLength > 0 && $this->request?->method() === 'HEAD' ? -1 : \strlen($body);
            $this->connection->head($head->status, $head->lines, $length, $head->reason);
        }
        $this->connection->data($body);
    }

    /** Sends the head now, whatever the body will be. */
    public function begin(): void
    {
        $this->send($this->output->takeHeld());
    }

    private function send(string $bytes): void
    {
        if ($this->connection->isHeadDue()) {
            $head = $this->head();
            $this->connection->head($head->status, $head->lines, $head->contentLength, $head->reason);
        }
        $this->connection->data($bytes);
        $this->connection->flush();
    }

    private function head(): SapiHead
    {
        $callback = $this->beforeHead;
        $this->beforeHead = null;
        if ($callback !== null) {
            try {
                $callback();
            } catch (\Throwable $error) {
                // The head leaves from within an output callback, which must not throw.
                $this->connection->log(3, (string) $error);
            }
        }

        $head = SapiHead::read($this->superglobals?->repeatedCookie() ?? '');
        if ($head->status < 200) {
            throw new \InvalidArgumentException("The status $head->status does not end an answer: it must be 200 to 999; headers_send() sends interim ones.");
        }

        return $head;
    }
}
