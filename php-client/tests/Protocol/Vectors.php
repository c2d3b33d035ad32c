<?php

declare(strict_types=1);

namespace Cetane\Tests\Protocol;

use Cetane\Protocol\Measurements;

/** The golden frames of worker-protocol/vectors. */
final class Vectors
{
    /** @return iterable<string, array{array<string, mixed>}> */
    public static function frames(string $sender): iterable
    {
        foreach (self::read('frames') as $name => $vector) {
            if ($vector['sender'] === $sender) {
                yield $name => [$vector];
            }
        }
    }

    /** @return iterable<string, array<string, mixed>> */
    public static function read(string $folder): iterable
    {
        $files = \glob(__DIR__ . "/../../../worker-protocol/vectors/$folder/*.json") ?: [];
        if ($files === []) {
            throw new \RuntimeException("There are no vectors in $folder.");
        }
        foreach ($files as $file) {
            yield \basename($file, '.json') => \json_decode((string) \file_get_contents($file), true, 512, \JSON_THROW_ON_ERROR);
        }
    }

    /** @param list<string|array{repeat: string, times: int}> $items */
    public static function bytes(array $items): string
    {
        $bytes = '';
        foreach ($items as $item) {
            $bytes .= \is_array($item)
                ? \str_repeat((string) \hex2bin($item['repeat']), $item['times'])
                : (string) \hex2bin(\str_replace(' ', '', $item));
        }

        return $bytes;
    }

    /** @param string|array{repeat: string, times: int} $text one char per byte */
    public static function text(string|array $text): string
    {
        return (string) \mb_convert_encoding(self::message($text), 'ISO-8859-1', 'UTF-8');
    }

    /** @param string|array{repeat: string, times: int} $text */
    public static function message(string|array $text): string
    {
        return \is_array($text) ? \str_repeat($text['repeat'], $text['times']) : $text;
    }

    /**
     * @param array{measurements: list<array{kind: string, texts: list<string|array>, bounds: list<float>, values: list<float>}>} $frame
     */
    public static function measurements(array $frame): Measurements
    {
        $all = new Measurements();
        foreach ($frame['measurements'] as ['kind' => $kind, 'texts' => $texts, 'bounds' => $bounds, 'values' => $values]) {
            $texts = \array_map(self::message(...), $texts);
            $labels = [];
            for ($i = 1; $i < \count($texts); $i += 2) {
                $labels[$texts[$i]] = $texts[$i + 1];
            }
            foreach ($values as $value) {
                match ($kind) {
                    'COUNTER' => $all->count($texts[0], $value, $labels),
                    'GAUGE' => $all->set($texts[0], $value, $labels),
                    'HISTOGRAM' => $all->observe($texts[0], $value, $labels, $bounds),
                    'GIVEN_UP' => $all->giveUp((int) $value),
                };
            }
        }

        return $all;
    }

    /**
     * @param list<array{string, string}> $pairs
     *
     * @return array<int|string, string>
     */
    public static function pairs(array $pairs): array
    {
        $result = [];
        foreach ($pairs as [$name, $value]) {
            $result[self::text($name)] = self::text($value);
        }

        return $result;
    }
}
