<?php

/*
 * Swoole's table for applications that run without the extension: rows in the supervisor's memory, shared by all workers. Loaded only where no
 * extension brings the class.
 */

declare(strict_types=1);

namespace Swoole;

use ArrayAccess;
use Cetane\SharedTable;
use Countable;
use Generator;
use InvalidArgumentException;
use Iterator;
use LogicException;

/**
 * Differs from the extension's in that a key may have 1024 bytes instead of 63, that a table holds exactly as many rows as it was made for, that a
 * string which is too long for its column is refused instead of cut, and that two tables are the same one when they have the same name: those of
 * config/octane.php have theirs, any other has that of the line of code that makes it.
 *
 * @implements Iterator<string, array<string, int|float|string>>
 * @implements ArrayAccess<string, array<string, int|float|string>>
 */
class Table implements Iterator, Countable, ArrayAccess
{
    public const TYPE_INT = 1;
    public const TYPE_FLOAT = 2;
    public const TYPE_STRING = 3;

    /** @var int most rows */
    public $size;
    /** @var int bytes that the rows take */
    public $memorySize = 0;

    private string $name;
    private ?SharedTable $shared = null;
    /** @var array<string, array{int, int}> type and size */
    protected $columns = [];
    /** @var Generator<string, array<string, int|float|string>>|null */
    private ?Generator $rows = null;

    /**
     * @param float $conflict_proportion has no meaning here
     */
    public function __construct(int $table_size, float $conflict_proportion = 0.2)
    {
        $this->size = $table_size;
        $place = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0] ?? [];
        $this->name = 'swoole:' . substr(($place['file'] ?? '') . ':' . ($place['line'] ?? 0), -240);
    }

    /** Gives the table another name than that of the line of code that makes it; before {@see create()}. */
    public function named(string $name): static
    {
        $this->name = $name;

        return $this;
    }

    /** @return bool */
    public function column(string $name, int $type, int $size = 0)
    {
        if ($this->shared !== null) {
            throw new LogicException("The table $this->name is created, no column can be added.");
        }
        if ($type < self::TYPE_INT || $type > self::TYPE_STRING || ($type === self::TYPE_STRING && $size < 1)) {
            throw new InvalidArgumentException("Column $name of the table $this->name has no type, or is a string of no size.");
        }
        $this->columns[$name] = [$type, $type === self::TYPE_STRING ? $size : 8];

        return true;
    }

    /** @return bool */
    public function create()
    {
        $columns = [];
        foreach ($this->columns as $name => [$type, $size]) {
            $columns[$name] = [self::TYPE_INT => 'int', self::TYPE_FLOAT => 'float', self::TYPE_STRING => "string:$size"][$type];
        }
        $this->shared = SharedTable::open($this->name, $this->size, $columns);

        return true;
    }

    /** @return bool */
    public function destroy()
    {
        $this->shared()->clear();

        return true;
    }

    /**
     * Columns that are not named keep their values; a new row has zeros and empty strings there.
     *
     * @param array<string, int|float|string> $value
     *
     * @return bool false, with a warning, when the table is full
     */
    public function set(string $key, array $value)
    {
        if ($this->shared()->set($key, array_intersect_key($value, $this->columns))) {
            return true;
        }
        trigger_error("Swoole\\Table::set(): the table $this->name is full, there is no room for the key $key", E_USER_WARNING);

        return false;
    }

    /**
     * @return ($field is null ? array<string, int|float|string>|false : int|float|string|false) false when there is no such row, or column
     */
    public function get(string $key, ?string $field = null)
    {
        $row = $this->shared()->get($key);

        return $row === null ? false : ($field === null ? $row : $row[$field] ?? false);
    }

    /** @return int */
    public function count(): int
    {
        return $this->shared()->count();
    }

    /** @return bool whether there was such a row */
    public function del(string $key)
    {
        return $this->shared()->delete($key);
    }

    /** @return bool */
    public function delete(string $key)
    {
        return $this->del($key);
    }

    /** @return bool */
    public function exist(string $key)
    {
        return $this->shared()->exists($key);
    }

    /** @return bool */
    public function exists(string $key)
    {
        return $this->exist($key);
    }

    /**
     * @param int|float $incrby
     *
     * @return int|float the new value
     */
    public function incr(string $key, string $column, $incrby = 1)
    {
        return $this->shared()->increment($key, $column, $incrby);
    }

    /**
     * @param int|float $incrby
     *
     * @return int|float the new value
     */
    public function decr(string $key, string $column, $incrby = 1)
    {
        return $this->shared()->decrement($key, $column, $incrby);
    }

    /** @return int */
    public function getSize()
    {
        return $this->size;
    }

    /** @return int */
    public function getMemorySize()
    {
        return $this->memorySize = $this->shared()->bytes();
    }

    /** @return array<string, int> */
    public function stats()
    {
        return ['num' => $this->count()];
    }

    public function rewind(): void
    {
        $this->rows = $this->shared()->getIterator();
    }

    public function valid(): bool
    {
        return $this->rows?->valid() ?? false;
    }

    public function next(): void
    {
        $this->rows?->next();
    }

    /** @return array<string, int|float|string>|null */
    #[\ReturnTypeWillChange]
    public function current()
    {
        return $this->rows?->current();
    }

    /** @return string|null */
    #[\ReturnTypeWillChange]
    public function key()
    {
        return $this->rows?->key();
    }

    /** @param string $offset */
    public function offsetExists($offset): bool
    {
        return $this->exist((string) $offset);
    }

    /**
     * @param string $offset
     *
     * @return array<string, int|float|string>|null
     */
    #[\ReturnTypeWillChange]
    public function offsetGet($offset)
    {
        return $this->get((string) $offset) ?: null;
    }

    /**
     * @param string $offset
     * @param array<string, int|float|string> $value
     */
    public function offsetSet($offset, $value): void
    {
        $this->set((string) $offset, $value);
    }

    /** @param string $offset */
    public function offsetUnset($offset): void
    {
        $this->del((string) $offset);
    }

    private function shared(): SharedTable
    {
        return $this->shared ?? throw new LogicException("The table $this->name is not created yet: call create().");
    }
}
