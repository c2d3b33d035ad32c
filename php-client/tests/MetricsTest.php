<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Metrics;
use Cetane\Protocol\Measurements;
use Cetane\Tests\Support\WorkerTestCase;

/**
 * What the application measures, and how it goes with DONE.
 *
 * @covers \Cetane\Metrics
 * @covers \Cetane\Protocol\Measurements
 */
final class MetricsTest extends WorkerTestCase
{
    private const ONE = "\x3F\xF0\0\0\0\0\0\0";

    public function testMeasurementsOfARequestGoInOneFrameBetweenEndAndDone(): void
    {
        $this->startScript(
            'Worker::run(function () { Cetane\Metrics::counter("n", 0.5); Cetane\Metrics::counter("n", 0.5); return "x"; });',
            capabilities: 'metrics',
        );
        for ($number = 1; $number <= 2; $number++) {
            $this->supervisor->request();
            $names = [];
            do {
                $frame = $this->supervisor->next();
                $names[] = $frame->name;
                if ($frame->name === 'METRICS') {
                    self::assertSame(\bin2hex("\1\0\0\1\0\1" . self::ONE . 'n'), \bin2hex($frame->payload));
                }
            } while ($frame->name !== 'DONE');
            self::assertSame(['HEAD', 'DATA', 'END', 'METRICS', 'DONE'], $names);
        }
        $this->assertStopsQuietly();
    }

    public function testASupervisorThatDoesNotWantThemGetsNone(): void
    {
        $this->startHandler('function () { Cetane\Metrics::counter("n"); return "x"; }');
        $this->supervisor->request();
        self::assertSame('x', $this->supervisor->answer()->body);
        $this->assertStopsQuietly();
    }

    public function testWhatIsMeasuredOutsideAWorkerGoesNowhere(): void
    {
        Metrics::counter('a');
        Metrics::gauge('b', 1);
        Metrics::histogram('c', 1);
        self::assertNull(\Cetane\Worker::current());
    }

    public function testSeriesDifferByNameKindAndLabels(): void
    {
        $all = new Measurements();
        $all->count('a', 1, ['l' => 1]);
        $all->count('a', 1, ['l' => '1']);
        $all->count('a', 1, ['l' => true, 'm' => null]);
        $all->set('a', 1, ['l' => '1']);
        self::assertSame(
            [
                "\1\0\0\1\0\5\x40\0\0\0\0\0\0\0a\0l\0" . '1'
                . "\1\0\0\1\0\x08" . self::ONE . "a\0l\0" . '1' . "\0m\0"
                . "\2\0\0\1\0\5" . self::ONE . "a\0l\0" . '1',
            ],
            $all->take(),
        );
        self::assertSame([], $all->take());
    }

    public function testMoreSeriesValuesAndTextThanThereIsRoomForAreGivenUpAndCounted(): void
    {
        $all = new Measurements();
        for ($i = 0; $i < Measurements::MAX_VALUES + 3; $i++) {
            $all->observe('h', $i, [], \range(1, 300));
        }
        $all->count(\str_repeat('x', 65_511), 1, []);
        for ($i = 0; $i < Measurements::MAX_SERIES + 4; $i++) {
            $all->count('n', 1, ['i' => \str_pad((string) $i, 200)]);
        }
        $payloads = $all->take();
        self::assertGreaterThan(3, \count($payloads));
        foreach ($payloads as $payload) {
            self::assertLessThanOrEqual(65_524, \strlen($payload));
        }
        self::assertStringEndsWith("\0\0\0\1\0\0" . \pack('E', 3 + 1 + 5), $payloads[\count($payloads) - 1]);
        self::assertSame(
            ['kind' => 3, 'bounds' => 255, 'values' => Measurements::MAX_VALUES, 'text' => 1],
            \unpack('Ckind/Cbounds/nvalues/ntext', $payloads[0]),
        );
    }

    public function testATextWithNulCannotBreakTheFrame(): void
    {
        $all = new Measurements();
        $all->count("a\0b", 1, ["l\0" => "\0"]);
        self::assertSame("\1\0\0\1\0\x08" . self::ONE . "a b\0l \0 ", $all->take()[0]);
    }
}
