<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Calls;

/**
 * A table in the supervisor's memory that all workers share, and that outlives them:
 *
 *     $visits = SharedTable::open('visits', 1000, ['count' => 'int', 'last' => 'string:64']);
 *     $visits->increment($page, 'count');
 *
 * Each operation on a row is atomic. Values have the column's type: an int, a float, or a string of the given length in bytes at most. Rows go when
 * they are deleted, when the supervisor ends, or when the table is opened with other columns or limits.
 *
 * @implements \IteratorAggregate<string, array<string, int|float|string>>
 */
final class SharedTable implements \Countable, \IteratorAggregate
{
    public const KEY_BYTES = 1024;

    private const OPEN = "\x10";
    private const GET = "\x11";
    private const SET = "\x12";
    private const DELETE = "\x13";
    private const EXISTS = "\x14";
    private const ADD = "\x15";
    private const COUNT = "\x16";
    private const SCAN = "\x17";
    private const CLEAR = "\x18";
    private const BATCH = "\x1F";

    private const DONE = "\0";
    private const TOO_LONG = "\4";
    private const REFUSED = "\5";

    private const TYPES = ['int' => 1, 'float' => 2, 'string' => 3];
    private const CODES = [1 => 'J', 2 => 'E', 3 => 'N'];
    private const NO_CURSOR = 0xFFFF_FFFF;

    /** @var array<string, self> */
    private static array $open = [];

    /** How `unpack()` reads the fixed part of a row. */
    private readonly string $format;
    private readonly int $fixedBytes;

    /** @var array<string, array{string, string}> its index as a byte and its code for `pack()`, for each column that is a number */
    private readonly array $numbers;

    /**
     * @param string $number two bytes, by which the supervisor knows the table
     * @param array<string, array{int, int}> $columns type and size by name
     */
    private function __construct(
        public readonly string $name,
        private readonly Calls $calls,
        private readonly string $number,
        private readonly array $columns,
    ) {
        $format = [];
        $numbers = [];
        $bytes = 0;
        foreach (\array_keys($columns) as $index => $column) {
            [$type] = $columns[$column];
            $format[] = self::CODES[$type] . "c$index";
            $bytes += $type === 3 ? 4 : 8;
            if ($type !== 3) {
                $numbers[$column] = [\chr($index), self::CODES[$type]];
            }
        }
        $this->numbers = $numbers;
        $this->format = \implode('/', $format);
        $this->fixedBytes = $bytes;
    }

    /**
     * The table of that name; it is made by the first worker that opens it. Later calls with the same arguments give the same object.
     *
     * @param int $rows most rows
     * @param array<string, string> $columns `int`, `float` or `string:BYTES` by the column's name
     * @param bool $evicts whether a full table gives up the row that was not used for the longest time; else {@see set()} gives false
     * @param string|null $expires name of an int column: seconds since 1970, from then on the row is no longer there
     *
     * @throws \RuntimeException when this process is no worker of Cetane, or the supervisor refuses the table
     * @throws \InvalidArgumentException for a column that is none
     */
    public static function open(string $name, int $rows, array $columns, bool $evicts = false, ?string $expires = null): self
    {
        $types = [];
        $expiry = 0xFF;
        $call = '';
        foreach ($columns as $column => $declared) {
            [$type, $size] = \explode(':', $declared, 2) + [1 => '0'];
            $code = self::TYPES[$type] ?? throw new \InvalidArgumentException(
                "Column $column of the shared table $name is declared as '$declared'; it must be int, float or string:BYTES."
            );
            $types[$column] = [$code, (int) $size];
            $call .= \pack('CNC', $code, $size, \min(255, \strlen((string) $column))) . \substr((string) $column, 0, 255);
            if ($column === $expires) {
                $expiry = \count($types) - 1;
            }
        }
        $call = self::OPEN . \pack('CCNC', $evicts, $expiry, \max(0, \min(0xFFFF_FFFF, $rows)), \min(255, \count($types))) . $call . $name;
        if (isset(self::$open[$call])) {
            return self::$open[$call];
        }
        $worker = \getenv('CETANE_IN') === false ? Worker::current() : Worker::connect();
        if ($worker === null || !$worker->canCall()) {
            throw new \RuntimeException("The shared table $name cannot be opened: this process is no worker of Cetane.");
        }
        $reply = $worker->calls()->call($call);
        if ($reply[0] !== self::DONE) {
            throw new \RuntimeException(\substr($reply, 1));
        }

        return self::$open[$call] = new self($name, $worker->calls(), \substr($reply, 1), $types);
    }

    /**
     * @return array<string, int|float|string>|null the row, null when there is none
     *
     * @throws \InvalidArgumentException for a key that is too long, as everywhere
     */
    public function get(string $key): ?array
    {
        $reply = $this->calls->call(self::GET . $this->number . self::key($key));

        return $reply[0] === self::DONE ? $this->decode($reply, 5) : null;
    }

    /**
     * The rows of many keys at once, in one call.
     *
     * @param list<string> $keys
     *
     * @return array<string, array<string, int|float|string>> by key, without those that are not there
     */
    public function getMany(array $keys): array
    {
        $rows = [];
        foreach ($this->batch(\array_map(fn (string $key): string => self::GET . $this->number . self::key($key), $keys)) as $index => $reply) {
            if ($reply[0] === self::DONE) {
                $rows[$keys[$index]] = $this->decode($reply, 5);
            } elseif ($reply[0] === self::REFUSED && ($row = $this->get($keys[$index])) !== null) {
                $rows[$keys[$index]] = $row;
            }
        }

        return $rows;
    }

    /**
     * Changes the columns that are named, or makes the row, with zeros and empty strings for the others.
     *
     * @param array<string, int|float|string> $values
     *
     * @return bool false when the table is full
     *
     * @throws \InvalidArgumentException for a column that is none, or a string that is too long for its column
     */
    public function set(string $key, array $values): bool
    {
        return $this->isDone($this->calls->call($this->change($key, $values, "\0\0\0\0\0")));
    }

    /**
     * {@see set()} for many rows at once, in one call.
     *
     * @param array<string, array<string, int|float|string>> $rows by key
     *
     * @return bool false when the table is too full for one of them
     */
    public function setMany(array $rows): bool
    {
        $calls = [];
        foreach ($rows as $key => $values) {
            $calls[] = $this->change((string) $key, $values, "\0\0\0\0\0");
        }

        return !\in_array(false, \array_map($this->isDone(...), $this->batch($calls)), true);
    }

    /**
     * {@see set()}, if there is no such row.
     *
     * @param array<string, int|float|string> $values
     *
     * @return bool false when there is one, or the table is full
     */
    public function add(string $key, array $values): bool
    {
        return $this->isDone($this->calls->call($this->change($key, $values, "\1\0\0\0\0")));
    }

    /**
     * Makes a new row of the old one; again, when another worker has changed it meanwhile.
     *
     * @param callable(array<string, int|float|string>|null): array<string, int|float|string> $change gets null when there is no row
     *
     * @return bool false when the table is full
     */
    public function update(string $key, callable $change): bool
    {
        do {
            $reply = $this->calls->call(self::GET . $this->number . self::key($key));
            $isThere = $reply[0] === self::DONE;
            $condition = $isThere ? "\2" . \substr($reply, 1, 4) : "\1\0\0\0\0";
            $reply = $this->calls->call($this->change($key, $change($isThere ? $this->decode($reply, 5) : null), $condition));
        } while ($reply[0] === "\2");

        return $this->isDone($reply);
    }

    /**
     * Adds to a number and returns the new one; a row that is not there is made. Integers wrap around at 64 bits.
     *
     * @throws \OverflowException when the table is full
     * @throws \InvalidArgumentException when the column is no number
     */
    public function increment(string $key, string $column, int|float $by = 1): int|float
    {
        [$index, $code] = $this->numbers[$column]
            ?? throw new \InvalidArgumentException("The shared table $this->name has no column $column that is a number.");
        $reply = $this->calls->call(
            self::ADD . $this->number . $index . \pack($code, $code === 'J' ? (int) $by : (float) $by) . self::key($key)
        );
        if ($reply[0] !== self::DONE) {
            throw new \OverflowException("The shared table $this->name is full: no row can be made for the key $key.");
        }

        return \unpack($code, $reply, 1)[1];
    }

    /** {@see increment()} the other way. */
    public function decrement(string $key, string $column, int|float $by = 1): int|float
    {
        return $this->increment($key, $column, -$by);
    }

    /** Whether there was such a row. */
    public function delete(string $key): bool
    {
        return $this->calls->call(self::DELETE . $this->number . self::key($key))[0] === self::DONE;
    }

    /**
     * {@see delete()} for many rows at once, in one call.
     *
     * @param list<string> $keys
     */
    public function deleteMany(array $keys): void
    {
        $this->batch(\array_map(fn (string $key): string => self::DELETE . $this->number . self::key($key), $keys));
    }

    public function exists(string $key): bool
    {
        return $this->calls->call(self::EXISTS . $this->number . self::key($key))[0] === self::DONE;
    }

    public function count(): int
    {
        return $this->size()['rows'];
    }

    /** Memory that the rows take, in bytes. */
    public function bytes(): int
    {
        return $this->size()['bytes'];
    }

    public function clear(): void
    {
        $this->calls->call(self::CLEAR . $this->number);
    }

    /**
     * All rows by key, in no order, some at a time. A row that is there all the while comes once; one that comes or goes meanwhile may.
     *
     * @return \Generator<string, array<string, int|float|string>>
     */
    public function getIterator(): \Generator
    {
        $cursor = 0;
        do {
            $reply = $this->calls->call(self::SCAN . $this->number . \pack('N', $cursor));
            $cursor = \unpack('N', $reply, 1)[1];
            for ($at = 5, $end = \strlen($reply); $at < $end; $at += $key + $row) {
                ['key' => $key, 'row' => $row] = \unpack('nkey/Nrow', $reply, $at);
                $at += 6;
                yield \substr($reply, $at, $key) => $this->decode($reply, $at + $key);
            }
        } while ($cursor !== self::NO_CURSOR);
    }

    /** @return array<string, array{int, int}> type (1 int, 2 float, 3 string) and size by name */
    public function columns(): array
    {
        return $this->columns;
    }

    /** @return array<string, int|float|string> */
    private function decode(string $bytes, int $at): array
    {
        $fixed = \unpack($this->format, $bytes, $at);
        $at += $this->fixedBytes;
        $row = [];
        $index = 0;
        foreach ($this->columns as $name => [$type]) {
            $value = $fixed["c$index"];
            if ($type === 3) {
                $row[$name] = \substr($bytes, $at, $value);
                $at += $value;
            } else {
                $row[$name] = $value;
            }
            $index++;
        }

        return $row;
    }

    /**
     * @param array<string, int|float|string> $values
     * @param string $condition its code and the version, five bytes
     */
    private function change(string $key, array $values, string $condition): string
    {
        $mask = 0;
        $fixed = '';
        $texts = '';
        $bit = 1;
        $known = 0;
        foreach ($this->columns as $name => [$type]) {
            if (isset($values[$name])) {
                $mask |= $bit;
                $known++;
                if ($type === 3) {
                    $text = (string) $values[$name];
                    $fixed .= \pack('N', \strlen($text));
                    $texts .= $text;
                } else {
                    $fixed .= $type === 1 ? \pack('J', (int) $values[$name]) : \pack('E', (float) $values[$name]);
                }
            }
            $bit <<= 1;
        }
        if ($known !== \count($values)) {
            $unknown = \array_diff_key(\array_filter($values, static fn (mixed $value): bool => $value !== null), $this->columns);
            if ($unknown !== []) {
                throw new \InvalidArgumentException("The shared table $this->name has no column " . \implode(', ', \array_keys($unknown)) . '.');
            }
        }
        $key = self::key($key);

        return self::SET . $this->number . $condition . \pack('Nn', $mask, \strlen($key)) . $key . $fixed . $texts;
    }

    private function isDone(string $reply): bool
    {
        if ($reply[0] === self::TOO_LONG) {
            $column = \array_keys($this->columns)[\ord($reply[1])];
            throw new \InvalidArgumentException(
                "A value is too long for column $column of the shared table $this->name, which takes {$this->columns[$column][1]} bytes."
            );
        }

        return $reply[0] === self::DONE;
    }

    /**
     * @param list<string> $calls
     *
     * @return list<string>
     */
    private function batch(array $calls): array
    {
        if ($calls === []) {
            return [];
        }
        $batch = self::BATCH;
        foreach ($calls as $call) {
            $batch .= \pack('N', \strlen($call)) . $call;
        }
        $reply = $this->calls->call($batch);
        $replies = [];
        for ($at = 1, $end = \strlen($reply); $at < $end; $at += $length) {
            $length = \unpack('N', $reply, $at)[1];
            $at += 4;
            $replies[] = \substr($reply, $at, $length);
        }

        return $replies;
    }

    /** @return array{rows: int, bytes: int} */
    private function size(): array
    {
        return \unpack('Nrows/Jbytes', $this->calls->call(self::COUNT . $this->number), 1);
    }

    private static function key(string $key): string
    {
        return \strlen($key) <= self::KEY_BYTES ? $key : throw new \InvalidArgumentException(
            'A key of a shared table has ' . self::KEY_BYTES . ' bytes at most, this one has ' . \strlen($key) . '.'
        );
    }
}
