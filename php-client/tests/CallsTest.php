<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\WorkerTestCase;

/**
 * What a worker asks of its supervisor, and the tasks and ticks that it is given, byte by byte.
 *
 * @covers \Cetane\JobRunner
 * @covers \Cetane\Protocol\Calls
 * @covers \Cetane\SharedTable
 * @covers \Cetane\Tasks
 */
final class CallsTest extends WorkerTestCase
{
    private const MORE = 1;

    private const OPEN = '$table = Cetane\\SharedTable::open("t", 10, ["n" => "int", "s" => "string:9"]);';

    public function testATableIsOpenedWhileTheWorkerBootsAndItsRowsAreReadByNumber(): void
    {
        $this->startWithTable('fn () => json_encode($table->get("k"))');
        $this->supervisor->request();
        $this->assertCall("\x11\0\7k", 1);
        $this->supervisor->reply("\0\0\0\0\1" . \pack('J', -5) . \pack('N', 2) . 'ab');
        self::assertSame('{"n":-5,"s":"ab"}', $this->supervisor->answer()->body);
    }

    public function testOnlyNamedColumnsAreSent(): void
    {
        $this->startWithTable('fn () => json_encode([$table->set("k", ["s" => "x"]), $table->add("k", ["n" => 1])])');
        $this->supervisor->request();
        $this->assertCall("\x12\0\7\0\0\0\0\0\0\0\0\2\0\1k\0\0\0\1x", 1);
        $this->supervisor->reply("\0");
        $this->assertCall("\x12\0\7\1\0\0\0\0\0\0\0\1\0\1k" . \pack('J', 1), 1);
        $this->supervisor->reply("\2");
        self::assertSame('[true,false]', $this->supervisor->answer()->body);
    }

    public function testAnUpdateIsTriedAgainWhenAnotherWorkerWasFaster(): void
    {
        $this->startWithTable('fn () => json_encode($table->update("k", fn ($row) => ["n" => ($row["n"] ?? 0) + 1]))');
        $this->supervisor->request();
        $this->assertCall("\x11\0\7k", 1);
        $this->supervisor->reply("\1");
        $this->assertCall("\x12\0\7\1\0\0\0\0\0\0\0\1\0\1k" . \pack('J', 1), 1);
        $this->supervisor->reply("\2");
        $this->assertCall("\x11\0\7k", 1);
        $this->supervisor->reply("\0\0\0\0\x2A" . \pack('JN', 8, 0));
        $this->assertCall("\x12\0\7\2\0\0\0\x2A\0\0\0\1\0\1k" . \pack('J', 9), 1);
        $this->supervisor->reply("\0");
        self::assertSame('true', $this->supervisor->answer()->body);
    }

    public function testALongCallIsSentAndALongReplyReadInPieces(): void
    {
        $this->startCaller('fn ($request, $worker) => md5($worker->calls()->call("\x11" . str_repeat("c", 100_000)))');
        $this->supervisor->request();
        $first = $this->supervisor->next();
        self::assertSame(['CALL', self::MORE, 65_524], [$first->name, $first->flags, \strlen($first->payload)]);
        $second = $this->supervisor->next();
        self::assertSame(['CALL', 0, 100_001 - 65_524], [$second->name, $second->flags, \strlen($second->payload)]);
        $this->supervisor->reply(\str_repeat('r', 57_332), self::MORE);
        $this->assertCall("\0", 1);
        $this->supervisor->reply('rest');
        self::assertSame(\md5(\str_repeat('r', 57_332) . 'rest'), $this->supervisor->answer()->body);
    }

    public function testCancelAndStopThatComeBeforeTheReplyAreKeptInMind(): void
    {
        $this->startCaller('fn ($request, $worker) => $worker->calls()->call("\x11") . ($worker->isCancelled() ? " left" : "")');
        $this->supervisor->request();
        $this->assertCall("\x11", 1);
        $this->supervisor->cancel()->stop()->reply('here');
        self::assertSame('here left', $this->supervisor->answer()->body);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testNothingCanBeAskedWhileNoRequestRuns(): void
    {
        $this->startScript(
            '$worker = Worker::connect(); $worker->ready(); $message = "asked";'
            . 'try { $worker->calls()->call("x"); } catch (\\LogicException $problem) { $message = $problem->getMessage(); }'
            . 'while ($request = $worker->wait()) { $worker->finish($message); }',
            capabilities: 'call',
        );
        self::assertStringContainsString('Nothing can be asked', $this->supervisor->exchange()->body);
    }

    public function testARefusalIsAnException(): void
    {
        $this->bootScript(self::OPEN, capabilities: 'call');
        self::assertSame('CALL', $this->supervisor->next()->name);
        $this->supervisor->reply("\5no room", 0, 0);
        self::assertStringContainsString('no room', $this->supervisor->next()->payload);
        self::assertNotSame(0, $this->supervisor->exitCode());
    }

    // ---- tasks and ticks ----

    public function testATaskIsRunAndItsResultSent(): void
    {
        $this->startCaller('fn () => "request"', 'call task');
        $this->supervisor->task(\serialize('phpversion'));
        $answer = $this->supervisor->answer();
        self::assertSame([200, \serialize(\PHP_VERSION)], [$answer->status, $answer->body]);
        self::assertSame('request', $this->supervisor->exchange()->body);
    }

    public function testTheRestOfALongTaskIsAskedFor(): void
    {
        $this->startScript('Worker::connect()->onTask(fn ($task) => md5($task)); Worker::run(fn () => "");', capabilities: 'call task');
        $this->supervisor->task(\str_repeat('t', 57_328), self::MORE);
        $this->assertCall("\0", 1);
        $this->supervisor->reply('rest');
        self::assertSame(\md5(\str_repeat('t', 57_328) . 'rest'), $this->supervisor->answer()->body);
    }

    public function testAnExceptionIsDescribed(): void
    {
        $this->startScript('function fails() { throw new \\DomainException("no", 7); } Worker::run(fn () => "fine");', capabilities: 'call task');
        $this->supervisor->task(\serialize('fails'));
        $answer = $this->supervisor->answer();
        self::assertSame(500, $answer->status);
        self::assertSame(['no', 'DomainException', 7], \array_slice(\unserialize($answer->body), 0, 3));
        self::assertSame('fine', $this->supervisor->exchange()->body);
    }

    public function testExitInATaskIsNoResult(): void
    {
        $this->startScript('function leaves() { echo "printed"; exit; } Worker::run(fn () => "");', capabilities: 'call task');
        $this->supervisor->task(\serialize('leaves'));
        $error = $this->supervisor->next();
        self::assertSame('ERROR', $error->name);
        self::assertStringContainsString('exit()', $error->payload);
        self::assertSame(['DONE', 1], [($done = $this->supervisor->done())->name, $done->flags]);
    }

    public function testATickRunsItsHandlerAndAnExceptionGoesToTheLog(): void
    {
        $this->startScript(
            'Worker::connect()->onTick(function () { throw new \\DomainException("tick failed"); }); Worker::run(fn () => "fine");',
            capabilities: 'call tick',
        );
        $this->supervisor->tick();
        self::assertSame(204, $this->supervisor->answer()->status);
        self::assertStringContainsString('tick failed', $this->supervisor->messages());
        self::assertSame('fine', $this->supervisor->exchange()->body);
    }

    private function startCaller(string $handler, string $capabilities = 'call'): void
    {
        $this->startScript("Worker::run($handler);", capabilities: $capabilities);
    }

    private function startWithTable(string $handler): void
    {
        $this->bootScript(self::OPEN . " Worker::run($handler);", capabilities: 'call');
        $open = $this->supervisor->next();
        self::assertSame(['CALL', 0], [$open->name, $open->number]);
        self::assertSame("\x10\0\xFF\0\0\0\x0A\2\1\0\0\0\0\1n\3\0\0\0\x09\1st", $open->payload);
        $this->supervisor->reply("\0\0\7", 0, 0);
        self::assertSame('READY', $this->supervisor->next()->name);
    }

    private function assertCall(string $payload, int $number): void
    {
        $frame = $this->supervisor->next();
        self::assertSame(['CALL', $number, \bin2hex($payload)], [$frame->name, $frame->number, \bin2hex($frame->payload)]);
    }
}
