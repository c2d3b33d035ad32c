<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** The supervisor sent something that the protocol does not allow here. Nothing is resynchronised: the worker reports it and exits. */
final class ProtocolViolation extends \RuntimeException
{
    /**
     * @param string $name as in PROTOCOL.md §8: MAGIC, TYPE, DIRECTION, FLAGS, LENGTH, TURN, REQUEST_NUMBER, PAYLOAD, NEGOTIATION, CUT
     * @param string|null $frame the offending frame's type, null where it is not known
     * @param int $request the number that the frame had, 0 where it is not known
     * @param int $offset bytes of the stream before the offending frame
     */
    public function __construct(
        public readonly string $name,
        string $what,
        public readonly ?string $frame = null,
        public readonly int $request = 0,
        public readonly int $offset = 0,
    ) {
        parent::__construct(\sprintf('%s: %s (%s at byte %d of the stream)', $name, $what, $frame ?? 'frame', $offset));
    }
}
