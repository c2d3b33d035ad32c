<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/**
 * Reads frames to the worker and checks what a frame alone shows: its magic, type, direction, flags and length, in this order, before
 * its payload is read. Turns are the caller's business.
 */
final class FrameReader
{
    public int $type = 0;
    public int $flags = 0;
    public int $number = 0;
    /** The number as its 4 bytes. */
    public string $numberBytes = "\0\0\0\0";

    private int $length = 0;
    private int $offset = 0;
    private int $nextOffset = 0;
    private bool $typeIsKnown = false;
    /** Flags of REQUEST that were not agreed on. */
    private int $barred = Frame::FORM;
    /** @var array<int, array{int, int, int}> the frames that may come */
    private array $rules = Frame::TO_WORKER;

    /** @param resource|null $in null until {@see begin()} gives it */
    public function __construct(private $in)
    {
    }

    /** @param resource $in */
    public function begin($in): void
    {
        $this->in = $in;
    }

    /** @param list<string> $capabilities all that are agreed on */
    public function agree(array $capabilities): void
    {
        $this->barred = \in_array('form', $capabilities, true) ? 0 : Frame::FORM;
        $this->rules = Frame::TO_WORKER;
        foreach ($capabilities as $capability) {
            $this->rules += Frame::WITH_CAPABILITY[$capability] ?? [];
        }
    }

    /**
     * Waits for the header of the next frame; false at the end of the stream.
     *
     * @throws ProtocolViolation
     */
    public function next(): bool
    {
        $this->offset = $this->nextOffset;
        $this->typeIsKnown = false;
        $this->number = 0;
        $bytes = $this->read(Frame::HEADER_BYTES, true);
        if ($bytes === null) {
            return false;
        }
        ['word' => $word, 'length' => $this->length, 'number' => $number] = \unpack('Nword/Nlength/Nnumber', $bytes);
        if ($word >> 24 !== 0xCE) {
            throw $this->badMagic($word >> 24);
        }
        $this->type = ($word >> 16) & 0xFF;
        $this->flags = $word & 0xFFFF;
        $this->number = $number;
        $this->numberBytes = \substr($bytes, 8);
        $this->typeIsKnown = true;
        $rule = $this->rules[$this->type] ?? null;
        if ($rule === null) {
            throw $this->type >= Frame::READY && $this->type <= (isset($this->rules[Frame::REPLY]) ? Frame::CALL : Frame::LOG)
                ? $this->violation('DIRECTION', 'only a worker sends it')
                : $this->violation('TYPE', \sprintf('version 1 sends no type 0x%02X to a worker', $this->type));
        }
        [$least, $most, $named] = $rule;
        if (($this->flags & ~$named) !== 0 || ($this->flags & $this->barred) !== 0 && $this->type === Frame::REQUEST) {
            throw $this->violation('FLAGS', \sprintf('it has flags 0x%04X', $this->flags));
        }
        if ($this->length < $least || $this->length > $most) {
            throw $this->violation('LENGTH', "its payload has $this->length bytes, allowed are $least to $most");
        }
        $this->nextOffset += Frame::HEADER_BYTES + $this->length;

        return true;
    }

    /**
     * Reads the payload. Who can't decode it throws the {@see violation()} PAYLOAD.
     *
     * @throws ProtocolViolation
     */
    public function payload(): string
    {
        return $this->read($this->length, false) ?? '';
    }

    /** Whether a frame, or the end of the stream, is there to be read without waiting. */
    public function isReadable(): bool
    {
        $read = [$this->in];
        $none = null;

        return @\stream_select($read, $none, $none, 0) === 1;
    }

    /** A violation in the frame whose header was read last. */
    public function violation(string $name, string $what): ProtocolViolation
    {
        $frame = $this->typeIsKnown ? Frame::NAMES[$this->type] ?? null : null;

        return new ProtocolViolation($name, $what, $frame, $this->number, $this->offset);
    }

    private function badMagic(int $byte): ProtocolViolation
    {
        return $this->violation('MAGIC', \sprintf('it starts with byte 0x%02X instead of 0xCE', $byte));
    }

    private function read(int $length, bool $mayEnd): ?string
    {
        if ($length === 0) {
            return '';
        }
        $bytes = @\fread($this->in, $length);

        return $bytes !== false && \strlen($bytes) === $length ? $bytes : $this->readRest((string) $bytes, $length, $mayEnd);
    }

    private function readRest(string $bytes, int $length, bool $mayEnd): ?string
    {
        while (($missing = $length - \strlen($bytes)) > 0) {
            // A signal may have interrupted the read.
            if (\feof($this->in)) {
                if ($mayEnd && $bytes === '') {
                    return null;
                }
                if ($mayEnd && $bytes[0] !== "\xCE") {
                    throw $this->badMagic(\ord($bytes[0]));
                }
                throw $this->violation('CUT', "the stream ended $missing bytes early");
            }
            $bytes .= @\fread($this->in, $missing);
        }

        return $bytes;
    }
}
