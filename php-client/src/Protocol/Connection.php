<?php

declare(strict_types=1);

namespace Cetane\Protocol;

use Cetane\Form;
use Cetane\Request;

/**
 * The worker's end of the protocol: two streams, whose turn it is, and the frames that are allowed in it.
 *
 * Frames collect in memory until {@see flush()}, so that an answer which is there as a whole leaves in one write; bodies above 32 KiB are
 * written without being copied behind their header. Methods called out of turn throw \LogicException and send nothing.
 */
final class Connection
{
    private const GREETING = 'has not read HELLO';
    private const BOOTING = 'is booting';
    private const IDLE = 'is idle';
    private const HEAD_DUE = 'has a request without a head';
    private const BODY = 'has sent the head';
    private const DONE_DUE = 'has ended the answer';
    private const LEAVING = 'is leaving';

    /** Above this a body costs less as a write of its own than as a copy. */
    private const COPY_BYTES = 32_768;

    private const U32_MAX = 0xFFFF_FFFF;

    private const NO_NUMBER = "\0\0\0\0";

    private string $turn = self::GREETING;
    private bool $broken = false;
    private string $pending = '';
    /** Where in $pending the final head starts, -1 when it is sent: as long as it is not, a failure can take it back. */
    private int $headAt = -1;

    private int $number = 0;
    private string $numberBytes = self::NO_NUMBER;
    private bool $cancelled = false;
    private bool $stopping = false;
    /** Body bytes that the head promised, -1 when it named no length. */
    private int $promised = -1;
    private int $carried = 0;

    private ?Hello $hello = null;
    private string $namesBytes = '';
    /** @var list<string> the names in $namesBytes: requests of one client tend to repeat them byte for byte */
    private array $names = [];

    public readonly Calls $calls;
    private readonly FrameReader $reader;
    /** @var resource|null to the supervisor, null until it is open */
    private $out = null;
    /** @var array{string, string}|null the FIFOs until they are open */
    private ?array $paths = null;

    /**
     * @param resource|null $in from the supervisor
     * @param resource|null $out to the supervisor
     */
    public function __construct($in, $out)
    {
        $this->reader = new FrameReader($in);
        $this->calls = new Calls($this, $this->reader);
        if ($out !== null) {
            \stream_set_write_buffer($out, 0);
            $this->out = $out;
        }
    }

    /**
     * Opens the FIFOs of the supervisor, in the order that the protocol wants.
     *
     * @throws \RuntimeException when one can't be opened
     */
    public static function open(string $inPath, string $outPath): self
    {
        $connection = self::later($inPath, $outPath);
        $connection->connect();

        return $connection;
    }

    /**
     * Opens the FIFOs once there is something to read or to write: opening them waits for a supervisor that was started after this process, and
     * until then there is much to do.
     */
    public static function later(string $inPath, string $outPath): self
    {
        $connection = new self(null, null);
        $connection->paths = [$inPath, $outPath];

        return $connection;
    }

    /** @throws \RuntimeException when one can't be opened */
    private function connect(): void
    {
        if ($this->paths === null) {
            return;
        }
        [$inPath, $outPath] = $this->paths;
        $in = @\fopen($inPath, 'rbe');
        $out = $in === false ? false : @\fopen($outPath, 'wbe');
        if ($in === false || $out === false) {
            throw new \RuntimeException(\sprintf(
                'The pipe %s to the supervisor cannot be opened: %s',
                $in === false ? $inPath : $outPath,
                \error_get_last()['message'] ?? 'unknown reason',
            ));
        }
        $this->paths = null;
        \stream_set_write_buffer($out, 0);
        $this->reader->begin($in);
        $this->out = $out;
    }

    /**
     * @throws ProtocolViolation
     * @throws ConnectionLost when the stream ends before HELLO
     */
    public function hello(): Hello
    {
        if ($this->turn !== self::GREETING) {
            throw $this->notItsTurn(self::GREETING);
        }
        $this->connect();
        $reader = $this->reader;
        if (!$reader->next()) {
            throw new ConnectionLost('The supervisor is gone: its stream ended before HELLO.');
        }
        if ($reader->type !== Frame::HELLO) {
            throw $this->outOfTurn();
        }
        $this->checkNumber(0);
        try {
            $hello = Hello::decode($reader->payload());
        } catch (MalformedPayload $malformed) {
            throw $reader->violation('PAYLOAD', $malformed->getMessage());
        }
        if (!$hello->isSpoken()) {
            throw $reader->violation('NEGOTIATION', \sprintf(
                'the supervisor speaks versions %d to %d of the protocol, this worker %d to %d',
                $hello->lowestVersion,
                $hello->highestVersion,
                Frame::VERSION,
                Frame::VERSION,
            ));
        }
        $this->turn = self::BOOTING;
        $reader->agree(\array_intersect($hello->capabilities(), ['call']));

        return $this->hello = $hello;
    }

    /** @param array<string, string> $facts */
    public function ready(array $facts): void
    {
        if ($this->turn !== self::BOOTING) {
            throw $this->notItsTurn(self::BOOTING);
        }
        $payload = \pack('n', Frame::VERSION) . PairList::encode($facts);
        self::checkSize('The facts about this worker', $payload);
        $this->reader->agree(\explode(' ', $facts['capabilities'] ?? ''));
        $this->pending .= Frame::header(Frame::READY, 0, \strlen($payload)) . $payload;
        $this->turn = self::IDLE;
        $this->flush();
    }

    /**
     * Waits for the next request or job; null means leave: STOP, or the supervisor is gone.
     *
     * @throws ProtocolViolation
     */
    public function next(): Request|Job|null
    {
        if ($this->turn === self::LEAVING) {
            return null;
        }
        if ($this->turn !== self::IDLE) {
            throw $this->notItsTurn(self::IDLE);
        }
        if ($this->stopping) {
            return $this->leave();
        }
        while ($this->reader->next()) {
            switch ($this->reader->type) {
                case Frame::TASK:
                case Frame::TICK:
                case Frame::CHECKPOINT:
                case Frame::RESTORED:
                    $this->checkNextNumber();

                    return $this->job();
                case Frame::REQUEST:
                case Frame::EVENT:
                    $this->checkNextNumber();
                    try {
                        return $this->request($this->reader->payload());
                    } catch (MalformedPayload $malformed) {
                        throw $this->reader->violation('PAYLOAD', $malformed->getMessage());
                    }
                case Frame::STOP:
                    $this->checkNumber(0);

                    return $this->leave();
                default:
                    // CANCEL may have crossed DONE: the client of the finished request has left.
                    $this->cancel();
            }
        }

        return $this->leave();
    }

    /** Looks, without waiting, whether the client of the running request has left. */
    public function isCancelled(): bool
    {
        while (!$this->cancelled && $this->isInRequest() && $this->reader->isReadable()) {
            if (!$this->reader->next()) {
                // The supervisor is gone, and the client with it.
                $this->stopping = $this->cancelled = true;
            } else {
                $this->interrupted();
            }
        }

        return $this->cancelled;
    }

    /**
     * A frame was read while another was waited for, or none: CANCEL and STOP may come at any time, and are kept in mind.
     *
     * @throws ProtocolViolation for every other
     */
    public function interrupted(): void
    {
        if ($this->reader->type === Frame::STOP && !$this->stopping) {
            $this->checkNumber(0);
            $this->stopping = true;
        } else {
            $this->cancel();
        }
    }

    /**
     * The 4 bytes of the number that a CALL has now.
     *
     * @throws \LogicException when nothing can be asked now
     */
    public function callNumber(): string
    {
        if ($this->turn === self::IDLE || $this->turn === self::LEAVING || $this->turn === self::GREETING) {
            throw new \LogicException("Nothing can be asked of the supervisor now: the worker $this->turn.");
        }

        return $this->numberBytes;
    }

    /** Whether a REPLY has the number of what runs. */
    public function checkReply(): void
    {
        $this->checkNumber($this->number);
    }

    /** Sends these frames behind what is pending, in one write where they are small. */
    public function send(string $frames): void
    {
        if ($this->pending !== '') {
            $this->flush();
        }
        $this->write($frames);
    }

    /**
     * An interim (1xx) or the final head.
     *
     * @param list<string> $lines "Name: value"
     * @param int $length bytes of the body, -1 when not known
     *
     * @throws \InvalidArgumentException for a status, line or size that the protocol can't carry
     */
    public function head(int $status, array $lines, int $length, string $reason = ''): void
    {
        if ($this->turn !== self::HEAD_DUE) {
            throw $this->notItsTurn(self::HEAD_DUE);
        }
        $joined = \implode("\0", $lines);
        if (
            \str_contains($joined, "\n")
            || \str_contains($joined, "\r")
            || ($reason !== '' && \strpbrk($reason, "\r\n") !== false)
            || ($lines !== [] && (\substr_count($joined, "\0") !== \count($lines) - 1 || \str_contains("\0$joined\0", "\0\0")))
        ) {
            throw new \InvalidArgumentException(self::badLine($lines));
        }
        if ($status < 100 || $status > 999 || $status === 101) {
            throw new \InvalidArgumentException("$status is no status of an answer: it must be 100 or 102 to 999.");
        }
        $text = $reason . $joined;
        $size = 12 + \strlen($text);
        if ($size > Frame::MAX_SMALL_PAYLOAD) {
            throw self::tooLarge('The head of the answer', $size);
        }
        $final = $status >= 200;
        $this->headAt = $final ? \strlen($this->pending) : -1;
        $this->pending .= "\xCE\x42\0\0"
            . \pack('Na4nnJ', $size, $this->numberBytes, $status, \strlen($reason), $final ? $length : 0) . $text;
        if ($final) {
            $this->turn = self::BODY;
            $this->promised = $length;
            $this->carried = 0;
        }
    }

    /** The next bytes of the body, any number of them. */
    public function data(string $bytes): void
    {
        $length = \strlen($bytes);
        $this->carry($length);
        if ($length > Frame::MAX_DATA) {
            for ($offset = 0; $offset < $length; $offset += Frame::MAX_DATA) {
                $this->piece(\substr($bytes, $offset, Frame::MAX_DATA));
            }
        } elseif ($length > 0) {
            $this->piece($bytes);
        }
    }

    /** The next bytes of the body are this part of a file; $path is absolute. */
    public function file(string $path, int $offset, int $length, bool $delete): void
    {
        $this->carry($length);
        $payload = \pack('JJ', $offset, $length) . $path;
        self::checkSize('The path of a file', $payload);
        $this->pending .=
            Frame::header(Frame::FILE, $delete ? Frame::DELETE : 0, \strlen($payload), $this->numberBytes) . $payload;
    }

    public function end(): void
    {
        if ($this->turn !== self::BODY) {
            throw $this->notItsTurn(self::BODY);
        }
        if ($this->promised >= 0 && $this->carried !== $this->promised) {
            throw new \LogicException(
                "The head of the answer promised $this->promised bytes, but its body has $this->carried."
            );
        }
        $this->pending .= "\xCE\x45\0\0\0\0\0\0" . $this->numberBytes;
        $this->turn = self::DONE_DUE;
    }

    /** What was measured, as {@see Measurements::take()} gives it; only where `metrics` was agreed on. */
    public function metrics(string $payload): void
    {
        if ($this->turn !== self::DONE_DUE) {
            throw $this->notItsTurn(self::DONE_DUE);
        }
        $this->pending .= Frame::header(Frame::METRICS, 0, \strlen($payload), $this->numberBytes) . $payload;
    }

    /** Times are in microseconds, the peak is in bytes; 0 where not measured. */
    public function done(int $handler, int $terminate, int $cpu, int $peak, bool $last = false): void
    {
        if ($this->turn !== self::DONE_DUE) {
            throw $this->notItsTurn(self::DONE_DUE);
        }
        $this->pending .= ($last ? "\xCE\x46\0\1" : "\xCE\x46\0\0") . "\0\0\0\x14" . $this->numberBytes . \pack(
            'NNNJ',
            \max(0, \min(self::U32_MAX, $handler)),
            \max(0, \min(self::U32_MAX, $terminate)),
            \max(0, \min(self::U32_MAX, $cpu)),
            \max(0, $peak),
        );
        $this->turn = $last ? self::LEAVING : self::IDLE;
    }

    /**
     * The request, or with ERROR_BOOT the boot, has failed. DONE is due after ERROR_EXCEPTION and ERROR_FATAL, the exit after the others.
     * A head that is not flushed yet is taken back.
     *
     * @param int|null $request number to report, null for the running request's
     */
    public function error(int $kind, string $message, ?int $request = null): void
    {
        $number = match (true) {
            $request !== null => \pack('N', $request),
            $this->isInRequest() => $this->numberBytes,
            default => self::NO_NUMBER,
        };
        if ($kind === Frame::ERROR_EXCEPTION || $kind === Frame::ERROR_FATAL) {
            if ($this->turn !== self::HEAD_DUE && $this->turn !== self::BODY) {
                throw new \LogicException("No request can fail now: the worker $this->turn.");
            }
            $this->turn = self::DONE_DUE;
            if ($this->headAt >= 0) {
                $this->pending = \substr($this->pending, 0, $this->headAt);
                $this->headAt = -1;
            }
        } else {
            $this->turn = self::LEAVING;
        }
        $payload = \chr($kind) . Text::fit($message);
        $this->pending .= Frame::header(Frame::ERROR, 0, \strlen($payload), $number) . $payload;
    }

    /** One message for the supervisor's log, at once; $severity is 0 (emergency) to 7 (debug). */
    public function log(int $severity, string $message): void
    {
        $payload = \chr(\max(0, \min(7, $severity))) . Text::fit(\rtrim($message, "\r\n"));
        $number = $this->isInRequest() ? $this->numberBytes : self::NO_NUMBER;
        $this->pending .= Frame::header(Frame::LOG, 0, \strlen($payload), $number) . $payload;
        $this->flush();
    }

    /** @throws ConnectionLost */
    public function flush(): void
    {
        if ($this->pending !== '') {
            $bytes = $this->pending;
            $this->pending = '';
            $this->headAt = -1;
            $this->write($bytes);
        }
    }

    public function isBooting(): bool
    {
        return $this->turn === self::GREETING || $this->turn === self::BOOTING;
    }

    /** True from REQUEST to DONE. */
    public function isInRequest(): bool
    {
        return $this->turn === self::HEAD_DUE || $this->turn === self::BODY || $this->turn === self::DONE_DUE;
    }

    public function isIdle(): bool
    {
        return $this->turn === self::IDLE;
    }

    public function isHeadDue(): bool
    {
        return $this->turn === self::HEAD_DUE;
    }

    /** True from the final head to END or ERROR. */
    public function isInBody(): bool
    {
        return $this->turn === self::BODY;
    }

    public function isDoneDue(): bool
    {
        return $this->turn === self::DONE_DUE;
    }

    public function isBroken(): bool
    {
        return $this->broken;
    }

    private function request(string $payload): Request
    {
        ['at' => $at, 'timeout' => $timeout, 'n' => $nameBytes, 'v' => $valueBytes, 'b' => $bodyBytes]
            = \unpack('Eat/Ntimeout/Nn/Nv/Nb', $payload);
        if (24 + $nameBytes + $valueBytes + $bodyBytes !== \strlen($payload)) {
            throw new MalformedPayload(
                "its fields have $nameBytes, $valueBytes and $bodyBytes bytes, which do not fill a payload of " . \strlen($payload)
            );
        }
        $names = \substr($payload, 24, $nameBytes);
        if ($names !== $this->namesBytes) {
            $this->names = PairList::names($names);
            $this->namesBytes = $names;
        }
        $values = \substr($payload, 24 + $nameBytes, $valueBytes);
        PairList::checkCount(\count($this->names), $values);
        $body = $bodyBytes === 0 ? '' : \substr($payload, -$bodyBytes);
        $inFile = ($this->reader->flags & Frame::BODY_IN_FILE) !== 0;
        $form = null;
        if (($this->reader->flags & Frame::FORM) !== 0) {
            $form = Form::decode($body, $inFile);
            $body = '';
            $inFile = false;
        }
        if ($inFile && (!\str_starts_with($body, '/') || \str_contains($body, "\0"))) {
            throw new MalformedPayload('the file of its body has no absolute path');
        }
        $this->begin();

        $isEvent = $this->reader->type === Frame::EVENT;

        return new Request($this->number, $at, $timeout, $this->names, $values, $body, $inFile, $this->hello->server, $form, $isEvent);
    }

    private function job(): Job
    {
        $this->begin();
        $rest = ($this->reader->flags & Frame::MORE) !== 0 ? $this->calls : null;

        return new Job($this->number, $this->reader->type, $this->reader->payload(), $rest);
    }

    private function begin(): void
    {
        $this->number = $this->reader->number;
        $this->numberBytes = $this->reader->numberBytes;
        $this->cancelled = false;
        $this->turn = self::HEAD_DUE;
    }

    private function leave(): ?Request
    {
        $this->turn = self::LEAVING;

        return null;
    }

    /** CANCEL, of the last request and once: the only frame that may come during a request and STOP apart. */
    private function cancel(): void
    {
        if ($this->reader->type !== Frame::CANCEL || $this->number === 0 || $this->cancelled) {
            throw $this->outOfTurn();
        }
        $this->checkNumber($this->number);
        $this->cancelled = true;
    }

    private function outOfTurn(): ProtocolViolation
    {
        return $this->reader->violation('TURN', "it came to a worker that $this->turn");
    }

    private function checkNextNumber(): void
    {
        $this->checkNumber($this->number === self::U32_MAX ? 1 : $this->number + 1);
    }

    private function checkNumber(int $expected): void
    {
        if ($this->reader->number !== $expected) {
            throw $this->reader->violation('REQUEST_NUMBER', "its request number is {$this->reader->number}, due is $expected");
        }
    }

    private function carry(int $length): void
    {
        if ($this->turn !== self::BODY) {
            throw $this->notItsTurn(self::BODY);
        }
        if ($this->promised >= 0 && $this->carried + $length > $this->promised) {
            throw new \LogicException(
                "The head of the answer promised $this->promised bytes, but its body has at least " . ($this->carried + $length) . '.'
            );
        }
        $this->carried += $length;
    }

    private function piece(string $bytes): void
    {
        $length = \strlen($bytes);
        $this->pending .= "\xCE\x43\0\0" . \pack('N', $length) . $this->numberBytes;
        if ($length <= self::COPY_BYTES) {
            $this->pending .= $bytes;
        } else {
            $this->flush();
            $this->write($bytes);
        }
    }

    private function write(string $bytes): void
    {
        if ($this->broken) {
            throw new ConnectionLost('The supervisor is gone.');
        }
        if ($this->out === null) {
            $this->connect();
        }
        $length = \strlen($bytes);
        $written = @\fwrite($this->out, $bytes);
        while ($written !== $length) {
            if ($written === false || $written === 0) {
                $this->broken = true;
                $this->turn = self::LEAVING;
                throw new ConnectionLost('The supervisor is gone: ' . (\error_get_last()['message'] ?? 'write failed'));
            }
            $bytes = \substr($bytes, $written);
            $length -= $written;
            $written = @\fwrite($this->out, $bytes);
        }
    }

    private function notItsTurn(string $due): \LogicException
    {
        return new \LogicException("This is not its turn: the worker $this->turn, this needs one that $due.");
    }

    private static function checkSize(string $what, string $payload): void
    {
        if (\strlen($payload) > Frame::MAX_SMALL_PAYLOAD) {
            throw self::tooLarge($what, \strlen($payload));
        }
    }

    private static function tooLarge(string $what, int $size): \InvalidArgumentException
    {
        return new \InvalidArgumentException(
            "$what has $size bytes, at most " . Frame::MAX_SMALL_PAYLOAD . ' fit into a frame.'
        );
    }

    /** @param list<string> $lines */
    private static function badLine(array $lines): string
    {
        foreach ($lines as $line) {
            if (\strpbrk($line, "\r\n\0") !== false) {
                return 'The header field ' . \json_encode(\strtok($line, ':'), \JSON_INVALID_UTF8_SUBSTITUTE)
                    . ' holds a line break or a NUL byte.';
            }
        }

        return 'A header field is empty, or the reason holds a line break.';
    }
}
