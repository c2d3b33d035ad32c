<?php

declare(strict_types=1);

namespace Cetane\Tests\Protocol;

use Cetane\Protocol\Connection;
use Cetane\Protocol\ConnectionLost;
use Cetane\Protocol\ProtocolViolation;
use Cetane\Tests\Support\Wire;
use PHPUnit\Framework\TestCase;

/**
 * Plays the worker in the conversations whose last word is the supervisor's, or that have no violation.
 *
 * @covers \Cetane\Protocol\Connection
 * @covers \Cetane\Protocol\FrameReader
 */
final class GoldenConversationTest extends TestCase
{
    public function conversations(): iterable
    {
        foreach (Vectors::read('conversations') as $name => $vector) {
            $last = $vector['steps'][\count($vector['steps']) - 1];
            if (!isset($last['violation']) || $last['sender'] === 'supervisor') {
                yield $name => [$vector];
            }
        }
    }

    /** @dataProvider conversations */
    public function testFindsTheViolationOrNone(array $vector): void
    {
        $wire = new Wire();
        $asked = false;
        foreach ($vector['steps'] as $index => $step) {
            if ($step['sender'] === 'worker') {
                foreach ($step['frames'] as $frame) {
                    self::play($wire->connection, $frame);
                    $asked = $frame['type'] === 'CALL' && !$frame['more'];
                }
                continue;
            }
            $wire->send(Vectors::bytes($step['bytes']));
            $expected = $step['violation'] ?? null;
            try {
                foreach ($step['frames'] as $frame) {
                    self::receive($wire->connection, $frame['type'], $asked);
                }
                if ($expected !== null) {
                    self::receive($wire->connection, $expected['frame'] ?? 'REQUEST', $asked);
                    self::fail("No {$expected['name']} was found: {$vector['description']}");
                }
            } catch (ProtocolViolation $violation) {
                $answer = $vector['steps'][$index + 1]['frames'][0] ?? null;
                if ($expected === null && ($answer['kind'] ?? null) === 'PROTOCOL') {
                    // The conversation goes on with this worker's report.
                    self::assertStringStartsWith("$violation->name:", Vectors::message($answer['message']));

                    return;
                }
                self::assertNotNull($expected, $violation->getMessage());
                self::assertSame(
                    [$expected['name'], $expected['frame'], $expected['offset']],
                    [$violation->name, $violation->frame, $violation->offset],
                    $violation->getMessage(),
                );

                return;
            }
        }
        self::assertNull($vector['steps'][\count($vector['steps']) - 1]['violation'] ?? null);
    }

    /** Takes the next frame in the way that the worker would in this turn. */
    private static function receive(Connection $connection, string $type, bool $asked): void
    {
        if ($asked) {
            // CANCEL and STOP wait in the stream, the worker finds them before the reply.
            $type === 'CANCEL' || $type === 'STOP' || $connection->calls->reply();
        } elseif ($connection->isBooting()) {
            if ($type === 'STOP' || $type === 'HELLO' || !self::isGreeted($connection)) {
                if (self::isGreeted($connection)) {
                    return; // it is seen once the worker is ready
                }
                $connection->hello();
            }
        } elseif ($connection->isInRequest()) {
            $connection->isCancelled();
        } elseif ($type === 'CANCEL') {
            // It waits in the stream until the worker looks for the next request.
            try {
                $connection->next();
            } catch (ConnectionLost) {
            }
        } else {
            $connection->next();
        }
    }

    private static function isGreeted(Connection $connection): bool
    {
        return (new \ReflectionProperty(Connection::class, 'hello'))->getValue($connection) !== null;
    }

    /** @param array<string, mixed> $frame */
    private static function play(Connection $connection, array $frame): void
    {
        match ($frame['type']) {
            'READY' => $connection->ready(Vectors::pairs($frame['facts'])),
            'HEAD' => $connection->head($frame['status'], [], $frame['body-length'] ?? -1),
            'DATA' => $connection->data(Vectors::text($frame['data'])),
            'FILE' => $connection->file(Vectors::text($frame['path']), $frame['offset'], $frame['length'], $frame['delete']),
            'END' => $connection->end(),
            'DONE' => $connection->done(0, 0, 0, 0, $frame['last']),
            'ERROR' => $connection->error(
                ['EXCEPTION' => 1, 'FATAL' => 2, 'BOOT' => 3, 'PROTOCOL' => 4][$frame['kind']],
                Vectors::message($frame['message']),
            ),
            'METRICS' => $connection->metrics(Vectors::measurements($frame)->take()[0]),
            'CALL' => $connection->calls->ask(Vectors::text($frame['call']), $frame['more']),
            'LOG' => $connection->log($frame['severity'], Vectors::message($frame['message'])),
        };
        $connection->flush();
    }
}
