<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

use Cetane\Protocol\Connection;
use Cetane\Request;

/** A connection whose supervisor is two files: what it reads is written by the test, what it writes is read. */
final class Wire
{
    public readonly Connection $connection;
    /** @var resource */
    private $out;
    /** @var resource */
    private $in;
    private string $path;

    public function __construct(string $fromSupervisor = '')
    {
        $this->path = (string) \tempnam(\sys_get_temp_dir(), 'cetane-wire-');
        $this->in = \fopen($this->path, 'ab');
        \stream_set_write_buffer($this->in, 0);
        $this->send($fromSupervisor);
        $this->out = \tmpfile();
        $this->connection = new Connection(\fopen($this->path, 'rb'), $this->out);
    }

    public function __destruct()
    {
        \unlink($this->path);
    }

    public function send(string $bytes): void
    {
        \fwrite($this->in, $bytes);
    }

    /** What was sent since the last call. */
    public function sent(): string
    {
        $this->connection->flush();
        \rewind($this->out);
        $bytes = (string) \stream_get_contents($this->out);
        \ftruncate($this->out, 0);
        \rewind($this->out);

        return $bytes;
    }

    /** @param array<string, string> $facts */
    public static function booted(string $capabilities = 'file', array $facts = []): self
    {
        $wire = new self(ScriptedSupervisor::frame(
            ScriptedSupervisor::HELLO,
            0,
            0,
            \pack('nn', 1, 1) . ScriptedSupervisor::pairs(['capabilities' => $capabilities]) . ScriptedSupervisor::pairs([]),
        ));
        $wire->connection->hello();
        $wire->connection->ready($facts);
        $wire->sent();

        return $wire;
    }

    /** A connection on which request $number runs. */
    public static function serving(int $number = 1): self
    {
        $wire = self::booted();
        $wire->jumpTo($number - 1);
        $wire->request($number);

        return $wire;
    }

    public function request(int $number = 1): Request
    {
        $this->send(ScriptedSupervisor::frame(ScriptedSupervisor::REQUEST, 0, $number, \pack('ENNNN', 1.5, 0, 0, 0, 0)));

        return $this->connection->next() ?? throw new \LogicException('no request');
    }

    /** As if $number requests had been served. */
    public function jumpTo(int $number): void
    {
        (new \ReflectionProperty(Connection::class, 'number'))->setValue($this->connection, $number);
    }
}
