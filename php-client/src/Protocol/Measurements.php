<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/**
 * What the application has measured and the supervisor does not know yet. Values of one series are put together, so that a request that counts a
 * thousand times sends one number; what is too much is given up and counted.
 */
final class Measurements
{
    private const GIVEN_UP = 0;
    private const COUNTER = 1;
    private const GAUGE = 2;
    private const HISTOGRAM = 3;

    /** Most series between two DONEs. */
    public const MAX_SERIES = 1000;
    /** Most values of one histogram between two DONEs. */
    public const MAX_VALUES = 4000;
    private const MAX_BOUNDS = 255;
    private const FIXED_BYTES = 6;

    /** @var array<string, array{int, string, string, int|float|string}> kind, texts, bounds as bytes, and a number or the values as bytes */
    private array $series = [];
    private int $givenUp = 0;

    /** @param array<string, scalar|\Stringable|null> $labels */
    public function count(string $name, int|float $by, array $labels): void
    {
        $series = &$this->series(self::COUNTER, $name, $labels);
        if ($series !== null) {
            $series[3] += $by;
        }
    }

    /** @param array<string, scalar|\Stringable|null> $labels */
    public function set(string $name, int|float $value, array $labels): void
    {
        $series = &$this->series(self::GAUGE, $name, $labels);
        if ($series !== null) {
            $series[3] = $value;
        }
    }

    /**
     * @param array<string, scalar|\Stringable|null> $labels
     * @param list<int|float> $bounds
     */
    public function observe(string $name, int|float $value, array $labels, array $bounds): void
    {
        $series = &$this->series(self::HISTOGRAM, $name, $labels, \array_slice($bounds, 0, self::MAX_BOUNDS));
        if ($series === null) {
            return;
        }
        if (\strlen($series[3]) >= 8 * self::MAX_VALUES) {
            $this->giveUp();
        } else {
            $series[3] .= \pack('E', $value);
        }
    }

    /** So many were made that there was no room for. */
    public function giveUp(int $measurements = 1): void
    {
        $this->givenUp += $measurements;
    }

    /**
     * The payloads of METRICS frames that hold all of it; then nothing is left.
     *
     * @return list<string>
     */
    public function take(): array
    {
        if ($this->series === [] && $this->givenUp === 0) {
            return [];
        }
        $series = $this->series;
        if ($this->givenUp > 0) {
            $series[] = [self::GIVEN_UP, '', '', $this->givenUp];
        }
        $this->series = [];
        $this->givenUp = 0;
        $payloads = [''];
        $last = 0;
        foreach ($series as [$kind, $texts, $bounds, $values]) {
            if ($kind !== self::HISTOGRAM) {
                $values = \pack('E', $values);
            }
            $one = \pack('CCnn', $kind, \strlen($bounds) >> 3, \strlen($values) >> 3, \strlen($texts)) . $bounds . $values . $texts;
            if (\strlen($payloads[$last]) + \strlen($one) > Frame::MAX_SMALL_PAYLOAD) {
                $payloads[++$last] = '';
            }
            $payloads[$last] .= $one;
        }

        return $payloads;
    }

    /**
     * @param array<string, scalar|\Stringable|null> $labels
     * @param list<int|float> $bounds
     *
     * @return array{int, string, string, int|float|string}|null null when there is no room for it
     */
    private function &series(int $kind, string $name, array $labels, array $bounds = []): ?array
    {
        $texts = \strtr($name, "\0", ' ');
        foreach ($labels as $label => $value) {
            $texts .= "\0" . \strtr((string) $label, "\0", ' ') . "\0" . \strtr((string) $value, "\0", ' ');
        }
        $key = $kind . $texts;
        if (!isset($this->series[$key])) {
            $most = Frame::MAX_SMALL_PAYLOAD - self::FIXED_BYTES - 8 * (\count($bounds) + ($kind === self::HISTOGRAM ? self::MAX_VALUES : 1));
            if (\count($this->series) >= self::MAX_SERIES || \strlen($texts) > $most) {
                $this->giveUp();
                $none = null;

                return $none;
            }
            $this->series[$key] = [$kind, $texts, $bounds === [] ? '' : \pack('E*', ...$bounds), $kind === self::HISTOGRAM ? '' : 0];
        }

        return $this->series[$key];
    }
}
