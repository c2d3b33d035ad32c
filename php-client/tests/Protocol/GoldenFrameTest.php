<?php

declare(strict_types=1);

namespace Cetane\Tests\Protocol;

use Cetane\Form;
use Cetane\Protocol\Frame;
use Cetane\Tests\Support\ScriptedSupervisor;
use Cetane\Tests\Support\Wire;
use PHPUnit\Framework\TestCase;

/** @covers \Cetane\Protocol\Connection */
final class GoldenFrameTest extends TestCase
{
    public function fromSupervisor(): iterable
    {
        return Vectors::frames('supervisor');
    }

    public function fromWorker(): iterable
    {
        foreach (Vectors::frames('worker') as $name => [$vector]) {
            if (!($vector['decode-only'] ?? false)) {
                yield $name => [$vector];
            }
        }
    }

    /** @dataProvider fromSupervisor */
    public function testDecodesWhatTheSupervisorSends(array $vector): void
    {
        $bytes = Vectors::bytes($vector['bytes']);
        $frame = $vector['frame'];
        switch ($frame['type']) {
            case 'HELLO':
                $hello = (new Wire($bytes))->connection->hello();
                self::assertSame([$frame['lowest-version'], $frame['highest-version']], [$hello->lowestVersion, $hello->highestVersion]);
                self::assertSame(Vectors::pairs($frame['settings']), $hello->settings);
                self::assertSame(Vectors::pairs($frame['server']), $hello->server);
                break;
            case 'REQUEST':
                $wire = Wire::booted('file form', ['capabilities' => 'form']);
                $wire->jumpTo($frame['request'] - 1);
                $wire->send($bytes);
                $request = $wire->connection->next();
                self::assertSame($frame['request'], $request->number);
                self::assertSame((float) $frame['received-at'], $request->receivedAt);
                self::assertSame($frame['timeout-millis'], $request->timeoutMillis);
                $server = $request->server();
                unset($server['REQUEST_TIME'], $server['REQUEST_TIME_FLOAT']);
                self::assertSame(Vectors::pairs($frame['server']), $server);
                if (isset($frame['form']) || isset($frame['form-files'])) {
                    [$fields, $files] = \array_map(Vectors::text(...), $frame['form'] ?? $frame['form-files']);
                    self::assertEquals(Form::decode(
                        isset($frame['form']) ? \pack('N', \strlen($fields)) . $fields . $files : "$fields\0$files",
                        isset($frame['form-files']),
                    ), $request->multipart());
                    self::assertSame('', $request->body());
                } elseif (isset($frame['body-file'])) {
                    self::assertSame(Vectors::text($frame['body-file']), $request->bodyFile());
                } else {
                    self::assertSame(Vectors::text($frame['body']), $request->body());
                    self::assertNull($request->bodyFile());
                }
                break;
            case 'EVENT':
                $wire = Wire::booted('event', ['capabilities' => 'event', 'events' => 'all']);
                $wire->jumpTo($frame['request'] - 1);
                $wire->send($bytes);
                $event = $wire->connection->next();
                self::assertTrue($event->isEvent);
                self::assertSame($frame['request'], $event->number);
                self::assertSame((float) $frame['received-at'], $event->receivedAt);
                self::assertSame($frame['timeout-millis'], $event->timeoutMillis);
                foreach ($frame['context'] as [$name, $value]) {
                    self::assertSame(Vectors::text($value), $event->variable(Vectors::text($name)));
                }
                if (isset($frame['body-file'])) {
                    self::assertSame(Vectors::text($frame['body-file']), $event->bodyFile());
                } else {
                    self::assertSame(Vectors::text($frame['body']), $event->body());
                }
                break;
            case 'TASK':
            case 'TICK':
            case 'CHECKPOINT':
            case 'RESTORED':
                $wire = Wire::booted('file call task tick snapshot', ['capabilities' => 'call task tick snapshot']);
                $wire->jumpTo($frame['request'] - 1);
                $wire->send($bytes);
                $job = $wire->connection->next();
                self::assertSame($frame['request'], $job->number);
                self::assertSame($frame['type'], Frame::NAMES[$job->type]);
                self::assertSame($frame['type'] === 'TASK', $job->isTask);
                self::assertSame($frame['timeout-millis'] ?? 0, $job->timeoutMillis);
                $rest = ($frame['more'] ?? false) ? 'rest' : '';
                $wire->send($rest === '' ? '' : ScriptedSupervisor::frame(Frame::REPLY, 0, $job->number, $rest));
                self::assertSame(Vectors::text($frame['task'] ?? '') . $rest, $job->task());
                break;
            case 'REPLY':
                $wire = Wire::booted('call', ['capabilities' => 'call']);
                if ($frame['request'] === 0) {
                    $wire = $this->greeted('call');
                } else {
                    $wire->jumpTo($frame['request'] - 1);
                    $wire->request($frame['request']);
                }
                $wire->send($bytes);
                self::assertSame(Vectors::text($frame['reply']), $wire->connection->calls->reply());
                break;
            case 'CANCEL':
                $wire = Wire::serving($frame['request']);
                $wire->send($bytes);
                self::assertTrue($wire->connection->isCancelled());
                break;
            case 'STOP':
                $wire = Wire::booted();
                $wire->send($bytes);
                self::assertNull($wire->connection->next());
                break;
            default:
                self::fail("no case for {$frame['type']}");
        }
    }

    /** @dataProvider fromWorker */
    public function testEncodesWhatTheWorkerSends(array $vector): void
    {
        $frame = $vector['frame'];
        $number = $frame['request'];
        $wire = match ($frame['type']) {
            'READY' => $this->greeted(),
            'ERROR' => $frame['kind'] === 'BOOT' || $number === 0 ? $this->greeted() : Wire::serving($number),
            'CALL' => $number === 0 ? $this->greeted('call') : Wire::serving($number),
            default => $number === 0 ? Wire::booted() : Wire::serving($number),
        };
        $connection = $wire->connection;
        if (\in_array($frame['type'], ['DATA', 'FILE', 'END', 'METRICS', 'DONE'], true)) {
            $connection->head(200, [], -1);
        }
        if ($frame['type'] === 'METRICS' || $frame['type'] === 'DONE') {
            $connection->end();
        }
        $wire->sent();
        if (\str_contains((string) \json_encode($frame['headers'] ?? []), '\n')) {
            // A supervisor has to cope with it; this worker does not send it.
            $this->expectException(\InvalidArgumentException::class);
        }
        match ($frame['type']) {
            'READY' => $connection->ready(Vectors::pairs($frame['facts'])),
            'HEAD' => $connection->head(
                $frame['status'],
                \array_map(
                    static fn (array $pair): string => Vectors::text($pair[0]) . ': ' . Vectors::text($pair[1]),
                    $frame['headers'],
                ),
                $frame['body-length'] ?? -1,
                Vectors::text($frame['reason']),
            ),
            'DATA' => $connection->data(Vectors::text($frame['data'])),
            'FILE' => $connection->file(Vectors::text($frame['path']), $frame['offset'], $frame['length'], $frame['delete']),
            'END' => $connection->end(),
            'DONE' => $connection->done(
                $frame['handler-micros'],
                $frame['terminate-micros'],
                $frame['cpu-micros'],
                $frame['peak-memory'],
                $frame['last'],
            ),
            'ERROR' => $connection->error(
                ['EXCEPTION' => 1, 'FATAL' => 2, 'BOOT' => 3, 'PROTOCOL' => 4][$frame['kind']],
                Vectors::message($frame['message']),
            ),
            'METRICS' => $connection->metrics(Vectors::measurements($frame)->take()[0]),
            'CALL' => $connection->calls->ask(Vectors::text($frame['call']), $frame['more']),
            'LOG' => $connection->log($frame['severity'], Vectors::message($frame['message'])),
        };
        self::assertSame(\bin2hex(Vectors::bytes($vector['bytes'])), \bin2hex($wire->sent()), $vector['description']);
    }

    private function greeted(string $capabilities = ''): Wire
    {
        $settings = ScriptedSupervisor::pairs(['capabilities' => $capabilities]);
        $wire = new Wire(ScriptedSupervisor::frame(Frame::HELLO, 0, 0, \pack('nn', 1, 1) . $settings . \pack('NN', 0, 0)));
        $wire->connection->hello();

        return $wire;
    }
}
