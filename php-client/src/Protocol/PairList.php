<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** Names and values as the protocol carries them: two byte lengths, then both lists joined by NUL. */
final class PairList
{
    /**
     * @param array<int|string, string> $pairs
     *
     * @throws \InvalidArgumentException for an empty name, or a NUL in a name or value
     */
    public static function encode(array $pairs): string
    {
        $names = \implode("\0", \array_keys($pairs));
        $values = \implode("\0", $pairs);
        $between = \max(0, \count($pairs) - 1);
        if (\substr_count($names, "\0") !== $between || \substr_count($values, "\0") !== $between || isset($pairs[''])) {
            throw new \InvalidArgumentException('A name is empty, or a name or value holds a NUL byte.');
        }

        return \pack('NN', \strlen($names), \strlen($values)) . $names . $values;
    }

    /**
     * Decodes the list that starts at $offset and moves $offset behind it.
     *
     * @return array<int|string, string>
     *
     * @throws MalformedPayload
     */
    public static function decode(string $bytes, int &$offset): array
    {
        $length = \strlen($bytes);
        if ($length - $offset < 8) {
            throw new MalformedPayload("a pair list starts $offset bytes into a payload of $length bytes, which is too short for one");
        }
        ['n' => $nameBytes, 'v' => $valueBytes] = \unpack('Nn/Nv', $bytes, $offset);
        $offset += 8;
        if ($nameBytes + $valueBytes > $length - $offset) {
            throw new MalformedPayload(
                "a pair list of $nameBytes + $valueBytes bytes does not fit into the $length bytes of its payload"
            );
        }
        $names = self::names(\substr($bytes, $offset, $nameBytes));
        $values = \substr($bytes, $offset + $nameBytes, $valueBytes);
        self::checkCount(\count($names), $values);
        $offset += $nameBytes + $valueBytes;

        return $names === [] ? [] : \array_combine($names, \explode("\0", $values));
    }

    /**
     * Splits a joined list of names.
     *
     * @return list<string>
     *
     * @throws MalformedPayload when a name is empty or occurs twice
     */
    public static function names(string $joined): array
    {
        if ($joined === '') {
            return [];
        }
        $names = \explode("\0", $joined);
        $unique = \array_flip($names);
        if (isset($unique[''])) {
            throw new MalformedPayload('a pair list has an empty name');
        }
        if (\count($unique) !== \count($names)) {
            throw new MalformedPayload('a pair list names ' . self::firstDuplicate($names) . ' twice');
        }

        return $names;
    }

    /** @throws MalformedPayload when joined values are not as many as their names */
    public static function checkCount(int $names, string $values): void
    {
        $count = $names === 0 && $values === '' ? 0 : \substr_count($values, "\0") + 1;
        if ($count !== $names) {
            throw new MalformedPayload("a pair list has $names names and $count values");
        }
    }

    /** @param list<string> $names */
    private static function firstDuplicate(array $names): string
    {
        return (string) \array_key_first(\array_filter(\array_count_values($names), static fn (int $times): bool => $times > 1));
    }

    private function __construct()
    {
    }
}
