<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

/** The frames of one request, put together. */
final class Answer
{
    public int $status = 0;
    public string $reason = '';
    /** Bytes that the head promised, -1 for not known. */
    public int $length = -2;
    /** @var list<string> */
    public array $lines = [];
    public string $body = '';
    /** @var list<string> names of the frames, in order */
    public array $frames = [];
    /** @var list<string> payloads of DATA */
    public array $pieces = [];
    /** @var list<array{int, list<string>}> interim heads */
    public array $interim = [];
    public int $errorKind = 0;
    public string $error = '';
    public bool $last = false;
    public int $handlerMicros = 0;
    public int $terminateMicros = 0;
    public int $peakBytes = 0;

    public function add(Frame $frame): void
    {
        $this->frames[] = $frame->name;
        switch ($frame->name) {
            case 'HEAD':
                ['s' => $status, 'r' => $reasonLength, 'l' => $length] = \unpack('ns/nr/Jl', $frame->payload);
                $fields = \substr($frame->payload, 12 + $reasonLength);
                $lines = $fields === '' ? [] : \explode("\0", $fields);
                if ($status < 200) {
                    $this->interim[] = [$status, $lines];
                    break;
                }
                $this->status = $status;
                $this->reason = \substr($frame->payload, 12, $reasonLength);
                $this->length = $length;
                $this->lines = $lines;
                break;
            case 'DATA':
                $this->body .= $frame->payload;
                $this->pieces[] = $frame->payload;
                break;
            case 'ERROR':
                $this->errorKind = \ord($frame->payload[0]);
                $this->error = $frame->message();
                break;
            case 'DONE':
                $this->last = ($frame->flags & 1) !== 0;
                ['h' => $this->handlerMicros, 't' => $this->terminateMicros, 'p' => $this->peakBytes]
                    = \unpack('Nh/Nt/Nc/Jp', $frame->payload);
                break;
        }
    }

    /** The value of a field, null when it is not there. */
    public function header(string $name): ?string
    {
        foreach ($this->lines as $line) {
            if (\strncasecmp($line, "$name:", \strlen($name) + 1) === 0) {
                return \trim(\substr($line, \strlen($name) + 1));
            }
        }

        return null;
    }

    /** @return mixed the body as JSON */
    public function json(): mixed
    {
        return \json_decode($this->body, true, 512, \JSON_THROW_ON_ERROR);
    }
}
