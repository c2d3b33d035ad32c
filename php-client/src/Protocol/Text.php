<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** The messages of ERROR and LOG. */
final class Text
{
    /** One byte of the payload stands before the message. */
    private const MAX_BYTES = Frame::MAX_SMALL_PAYLOAD - 1;

    /** The message as UTF-8, malformed sequences replaced, cut between two characters where it is too long for a frame. */
    public static function fit(string $message): string
    {
        if (\preg_match('//u', $message) !== 1) {
            $message = \htmlspecialchars_decode(
                \htmlspecialchars($message, \ENT_NOQUOTES | \ENT_SUBSTITUTE, 'UTF-8'),
                \ENT_NOQUOTES,
            );
        }
        if (\strlen($message) <= self::MAX_BYTES) {
            return $message;
        }
        $end = self::MAX_BYTES - \strlen('…');
        while ((\ord($message[$end]) & 0xC0) === 0x80) {
            $end--;
        }

        return \substr($message, 0, $end) . '…';
    }

    private function __construct()
    {
    }
}
