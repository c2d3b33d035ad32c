<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\SharedTable;
use Exception;
use RuntimeException;
use Swoole\Table;

/**
 * The tables that config/octane.php declares, and the one of the `octane` cache, in the supervisor's memory.
 */
final class Tables
{
    private const DEFAULT_ROWS = 1000;
    private const DEFAULT_BYTES = 1000;
    private const DEFAULT_CACHE_BYTES = 10_000;

    /** @var array<string, Table> */
    private array $tables = [];

    /**
     * Opens all tables, so that what is wrong with one of them shows at boot.
     *
     * @param array<string, array<string, string>> $declared as in config/octane.php: `name:rows` => [column => `type:size`]
     *
     * @throws RuntimeException         if the supervisor refuses one
     * @throws \InvalidArgumentException if a declaration is none
     */
    public function __construct(array $declared)
    {
        if ($declared === []) {
            return;
        }
        self::loadSwoolesTable();
        $types = ['int' => Table::TYPE_INT, 'float' => Table::TYPE_FLOAT, 'string' => Table::TYPE_STRING];
        foreach ($declared as $nameAndRows => $columns) {
            [$name, $rows] = explode(':', (string) $nameAndRows, 2) + [1 => (string) self::DEFAULT_ROWS];
            $table = (new Table((int) $rows, 1))->named("octane:$name");
            foreach ($columns as $column => $declaration) {
                [$type, $size] = explode(':', $declaration, 2) + [1 => (string) self::DEFAULT_BYTES];
                $table->column((string) $column, $types[$type] ?? 0, (int) $size);
            }
            $table->create();
            $this->tables[$name] = $table;
        }
    }

    /** @throws Exception if config/octane.php declares no such table */
    public function get(string $name): Table
    {
        return $this->tables[$name] ?? throw new Exception("The table [$name] is not declared in config/octane.php.");
    }

    /** @return array<string, Table> */
    public function all(): array
    {
        return $this->tables;
    }

    /**
     * The table of the `octane` cache; the row that was not used for the longest time makes room for a new one.
     *
     * @param array{rows?: int, bytes?: int} $declared as in config/octane.php
     */
    public static function cache(array $declared): SharedTable
    {
        $bytes = (int) ($declared['bytes'] ?? self::DEFAULT_CACHE_BYTES);
        $columns = ['value' => "string:$bytes", 'expiration' => 'int'];

        return SharedTable::open('octane-cache', (int) ($declared['rows'] ?? self::DEFAULT_ROWS), $columns, true, 'expiration');
    }

    /** Makes `Swoole\Table` known where no extension does. False where one does: its tables are memory of one process here. */
    public static function loadSwoolesTable(): bool
    {
        if (!class_exists(Table::class, false)) {
            require_once __DIR__ . '/Swoole/Table.php';
        }

        return method_exists(Table::class, 'named');
    }
}
