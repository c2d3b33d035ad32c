<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** The numbers of the worker protocol, version 1: frame types, flags, limits and kinds of error. */
final class Frame
{
    public const VERSION = 1;

    public const HEADER_BYTES = 12;

    public const HELLO = 0x01;
    public const REQUEST = 0x02;
    public const CANCEL = 0x03;
    public const STOP = 0x04;
    public const EVENT = 0x05;
    public const TASK = 0x06;
    public const TICK = 0x07;
    public const REPLY = 0x08;
    public const CHECKPOINT = 0x0A;
    public const RESTORED = 0x0B;

    public const READY = 0x41;
    public const HEAD = 0x42;
    public const DATA = 0x43;
    public const FILE = 0x44;
    public const END = 0x45;
    public const DONE = 0x46;
    public const ERROR = 0x47;
    public const LOG = 0x48;
    public const CALL = 0x49;
    public const METRICS = 0x4B;

    /** Flag of REQUEST: the body field is the path of a file that holds the body. */
    public const BODY_IN_FILE = 0x0001;
    /** Flag of REQUEST: the body field is a multipart form that the supervisor has read; only where the capability was agreed on. */
    public const FORM = 0x0002;
    /** Flag of FILE: the supervisor deletes the file once it was sent or the answer has failed. */
    public const DELETE = 0x0001;
    /** Flag of CALL: the next CALL goes on with it. Flag of REPLY and TASK: the worker asks for the rest. */
    public const MORE = 0x0001;
    /** Flag of DONE: the worker takes no further request. */
    public const LAST = 0x0001;

    public const ERROR_EXCEPTION = 1;
    public const ERROR_FATAL = 2;
    public const ERROR_BOOT = 3;
    public const ERROR_PROTOCOL = 4;

    /** Payload limit, in bytes, of READY, HEAD, FILE, ERROR, LOG, CALL and METRICS. */
    public const MAX_SMALL_PAYLOAD = 65_524;
    /** Payload limit of DATA, in bytes. */
    public const MAX_DATA = 16_777_216;

    /** Exit code of a worker whose supervisor broke the rules. */
    public const EXIT_PROTOCOL = 76;

    private const MAGIC = "\xCE";

    /** Names of all types, the reserved ones included. */
    public const NAMES = [
        0x01 => 'HELLO', 0x02 => 'REQUEST', 0x03 => 'CANCEL', 0x04 => 'STOP',
        0x05 => 'EVENT', 0x06 => 'TASK', 0x07 => 'TICK', 0x08 => 'REPLY', 0x09 => 'PING', 0x0A => 'CHECKPOINT', 0x0B => 'RESTORED',
        0x41 => 'READY', 0x42 => 'HEAD', 0x43 => 'DATA', 0x44 => 'FILE', 0x45 => 'END', 0x46 => 'DONE', 0x47 => 'ERROR', 0x48 => 'LOG',
        0x49 => 'CALL', 0x4A => 'PONG', 0x4B => 'METRICS',
    ];

    /** @var array<int, array{int, int, int}> frames to the worker: least and largest payload, named flags */
    public const TO_WORKER = [
        self::HELLO => [20, 61_428, 0],
        self::REQUEST => [24, 57_332, self::BODY_IN_FILE | self::FORM],
        self::CANCEL => [0, 0, 0],
        self::STOP => [0, 0, 0],
    ];

    /** @var array<string, array<int, array{int, int, int}>> those that need a capability */
    public const WITH_CAPABILITY = [
        'event' => [self::EVENT => [24, 57_332, self::BODY_IN_FILE]],
        'task' => [self::TASK => [4, 57_332, self::MORE]],
        'tick' => [self::TICK => [0, 0, 0]],
        'snapshot' => [self::CHECKPOINT => [0, 0, 0], self::RESTORED => [0, 0, 0]],
        'call' => [self::REPLY => [1, 57_332, self::MORE]],
    ];

    /** The 12 bytes before a payload of $length bytes; $number is the request's number as its 4 bytes. */
    public static function header(int $type, int $flags, int $length, string $number = "\0\0\0\0"): string
    {
        return self::MAGIC . \pack('CnN', $type, $flags, $length) . $number;
    }

    private function __construct()
    {
    }
}
