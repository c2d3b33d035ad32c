<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\MalformedPayload;

/**
 * A multipart form that the supervisor has read for PHP: text fields, and files that lie on disk until the request is done. It becomes
 * what PHP itself would have registered in $_POST and $_FILES.
 *
 * @internal
 */
final class Form
{
    /** Columns of an entry in the list of files, behind the field's name; the keys of $_FILES in PHP's order. */
    private const COLUMNS = ['name', 'full_path', 'type', 'tmp_name', 'error', 'size'];

    /** @var array<int|string, array<string, mixed>>|null */
    private ?array $tree = null;
    /** @var array<string, true> paths of the files that were not moved away */
    private array $uploads = [];

    /**
     * @param string $fields the text fields, or the path of the file that holds them
     * @param string $files the list of files, likewise
     */
    private function __construct(private readonly string $fields, private readonly string $files, private readonly bool $inFiles)
    {
    }

    /**
     * @param string $body the body field of a REQUEST with the flag FORM
     *
     * @throws MalformedPayload
     */
    public static function decode(string $body, bool $inFiles): self
    {
        if ($inFiles) {
            $paths = \explode("\0", $body);
            if (\count($paths) !== 2 || $paths[0] . $paths[1] === '' || ($paths[0] . '/')[0] !== '/' || ($paths[1] . '/')[0] !== '/') {
                throw new MalformedPayload('the files of its form are no two absolute paths');
            }

            return new self($paths[0], $paths[1], true);
        }
        $length = \strlen($body) < 4 ? \PHP_INT_MAX : \unpack('N', $body)[1];
        if ($length > \strlen($body) - 4) {
            throw new MalformedPayload('the text fields of its form reach beyond its ' . \strlen($body) . ' bytes');
        }

        return new self(\substr($body, 4, $length), \substr($body, 4 + $length), false);
    }

    /**
     * $_POST
     *
     * @return array<int|string, mixed>
     */
    public function variables(): array
    {
        $fields = $this->section($this->fields);
        // parse_str() takes its separators from php.ini, the text always has the usual one.
        $separators = (string) \ini_get('arg_separator.input');
        if ($separators !== '' && !\str_contains($separators, '&')) {
            $fields = \strtr($fields, '&', $separators[0]);
        }
        // What PHP has to say of nesting is not the business of a handler that the application has set.
        \set_error_handler(null);
        \parse_str($fields, $variables);
        \restore_error_handler();

        return $variables;
    }

    /**
     * $_FILES
     *
     * @return array<int|string, array<string, mixed>>
     */
    public function files(): array
    {
        if ($this->tree !== null) {
            return $this->tree;
        }
        $this->tree = [];
        $list = $this->section($this->files);
        $names = [];
        foreach ($list === '' ? [] : \array_chunk(\explode("\0", \substr($list, 0, -1)), 7) as $entry) {
            [$base, $keys] = self::split($entry[0]);
            $path = $entry[4];
            if ($path !== '') {
                $this->uploads[$path] = true;
            }
            $entry[5] = (int) $entry[5];
            $entry[6] = (int) $entry[6];
            foreach (self::COLUMNS as $index => $column) {
                // PHP keeps what a file named like the column of another one has put there, but for the path.
                if ($column === 'tmp_name' || !isset($names[self::join($base, [$column, ...$keys])])) {
                    $this->put($base, [$column, ...$keys], $entry[$index + 1]);
                }
            }
            $names[self::join($base, $keys)] = true;
        }

        return $this->tree;
    }

    /** Whether a file of this form lies there and was not moved away. */
    public function hasUpload(string $path): bool
    {
        $this->files();

        return isset($this->uploads[$path]);
    }

    /** The file was moved away. */
    public function forget(string $path): void
    {
        unset($this->uploads[$path]);
    }

    /** The request is done: PHP need not remember that there were files of these names, none comes again. */
    public function forgetNames(): void
    {
        foreach ($this->inFiles ? [$this->fields, $this->files, ...\array_keys($this->uploads)] : \array_keys($this->uploads) as $path) {
            \clearstatcache(true, $path);
        }
    }

    private function section(string $section): string
    {
        return $this->inFiles && $section !== '' ? (string) \file_get_contents($section) : $section;
    }

    /**
     * The name of a file's field as PHP reads it. Its brackets pair up, the supervisor has seen to it.
     *
     * @return array{string, list<string|null>} the variable, and the keys below it, null for the next free one
     */
    private static function split(string $name): array
    {
        $name = \ltrim($name, ' ');
        $at = \strcspn($name, '[');
        $keys = [];
        if ($at < \strlen($name)) {
            foreach (\explode('][', \substr($name, $at + 1, -1)) as $key) {
                $key = \ltrim($key, " \r\n\t");
                $keys[] = $key === '' || $key === "\v" || $key === "\f" ? null : $key;
            }
        }

        return [\strtr(\substr($name, 0, $at), ' .', '__'), $keys];
    }

    /** @param list<string|null> $keys */
    private static function join(string $base, array $keys): string
    {
        return $keys === [] ? $base : $base . '[' . \implode('][', $keys) . ']';
    }

    /** @param list<string|null> $keys */
    private function put(string $base, array $keys, string|int $value): void
    {
        if ($base === '') {
            return;
        }
        if (\count($keys) > (int) \ini_get('max_input_nesting_level')) {
            unset($this->tree[$base]);

            return;
        }
        $node = &$this->tree[$base];
        foreach ($keys as $key) {
            if (!\is_array($node)) {
                $node = [];
            }
            if ($key !== null) {
                $node = &$node[$key];
            } elseif (\array_key_exists(\PHP_INT_MAX, $node)) {
                return;
            } else {
                $node = &$node[];
            }
        }
        $node = $value;
    }
}
