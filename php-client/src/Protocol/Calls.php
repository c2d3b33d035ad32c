<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/**
 * What a worker asks of the supervisor while it boots, or while a request, a task or a tick runs: one CALL at a time, and the worker waits for its
 * REPLY.
 */
final class Calls
{
    /** Asks for the rest of a REPLY or a TASK. */
    private const REST = "\0";

    public function __construct(private readonly Connection $connection, private readonly FrameReader $reader)
    {
    }

    /**
     * Sends an operation with its operands and returns the whole reply: at least one byte, of which the first says how it went.
     *
     * @throws \LogicException when no request runs
     * @throws ConnectionLost
     * @throws ProtocolViolation
     */
    public function call(string $call): string
    {
        $length = \strlen($call);
        if ($length > Frame::MAX_SMALL_PAYLOAD) {
            $this->askInPieces($call, $length);
        } else {
            $this->connection->send("\xCE\x49\0\0" . \pack('N', $length) . $this->connection->callNumber() . $call);
        }
        $reply = $this->reply();

        return ($this->reader->flags & Frame::MORE) === 0 ? $reply : $reply . $this->rest();
    }

    /** The rest of the TASK or REPLY that was read last and has MORE. */
    public function rest(): string
    {
        $rest = '';
        do {
            $this->ask(self::REST, false);
            $rest .= $this->reply();
        } while (($this->reader->flags & Frame::MORE) !== 0);

        return $rest;
    }

    /** One CALL frame. */
    public function ask(string $piece, bool $more): void
    {
        $number = $this->connection->callNumber();
        $this->connection->send(Frame::header(Frame::CALL, $more ? Frame::MORE : 0, \strlen($piece), $number) . $piece);
    }

    /** The payload of one REPLY frame; CANCEL and STOP that come before it are kept in mind. */
    public function reply(): string
    {
        while ($this->reader->next()) {
            if ($this->reader->type === Frame::REPLY) {
                $this->connection->checkReply();

                return $this->reader->payload();
            }
            $this->connection->interrupted();
        }
        throw new ConnectionLost('The supervisor is gone: its stream ended before the reply to a call.');
    }

    private function askInPieces(string $call, int $length): void
    {
        for ($at = 0; $at < $length; $at += Frame::MAX_SMALL_PAYLOAD) {
            $this->ask(\substr($call, $at, Frame::MAX_SMALL_PAYLOAD), $at + Frame::MAX_SMALL_PAYLOAD < $length);
        }
    }
}
