<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\WorkerTestCase;

/** @covers \Cetane\Shutdown */
final class ShutdownTest extends WorkerTestCase
{
    public function exits(): iterable
    {
        yield 'exit' => ['echo "bye"; exit;', 'bye', 0];
        yield 'exit with a code' => ['echo "bye"; exit(3);', 'bye', 3];
        yield 'die with a message' => ['die("bye");', 'bye', 0];
        yield 'nothing printed' => ['exit(1);', '', 1];
        yield 'open buffers' => ['ob_start(); echo "b"; ob_start(fn ($s) => strrev($s)); echo "ey"; exit;', 'bye', 0];
        yield 'a shutdown function that prints' => ['register_shutdown_function(function () { echo "e"; }); echo "by"; exit;', 'bye', 0];
        yield 'exit in a shutdown function' => ['register_shutdown_function(function () { echo "e"; exit(4); }); echo "by"; exit(3);', 'bye', 4];
        yield 'a destructor that prints' => ['$GLOBALS["o"] = new class { function __destruct() { echo "e"; } }; echo "by"; exit;', 'bye', 0];
        yield 'exit in an output callback' => ['ob_start(); ob_start(function ($s) { exit(5); }); echo "kept"; ob_end_flush();', 'kept', 5];
        yield 'exit in an output callback at the end' => ['echo "bye"; ob_start(function ($s) { exit(5); }); echo "kept"; exit(3);', 'byekept', 5];
        yield 'exit in a generator' => ['(function () { yield 1; echo "bye"; exit(2); })()->next();', 'bye', 2];
        yield 'exit in a fiber' => ['(new Fiber(function () { echo "bye"; exit(2); }))->start();', 'bye', 2];
    }

    /** @dataProvider exits */
    public function testWhatWasPrintedBeforeAnExitIsTheAnswerOfAWorkerScript(string $code, string $body, int $exitCode): void
    {
        $this->startHandler("function () { $code }");
        $answer = $this->supervisor->exchange();
        self::assertSame([200, $body, true], [$answer->status, $answer->body, $answer->last]);
        self::assertSame('text/html; charset=UTF-8', $answer->header('Content-Type'));
        $this->assertExitsWith($exitCode);
        self::assertSame(['', ''], [$this->supervisor->rest(), $this->supervisor->stderr()]);
    }

    /** @dataProvider exits */
    public function testWhatWasPrintedBeforeAnExitIsTheAnswerOfAFrontController(string $code, string $body, int $exitCode): void
    {
        $this->startFrontController("header('HTTP/1.1 418 Teapot'); header('X-A: b'); $code");
        $answer = $this->supervisor->exchange();
        self::assertSame([418, $body, 'b', true], [$answer->status, $answer->body, $answer->header('X-A'), $answer->last]);
        self::assertSame(\strlen($body), $answer->length);
        $this->assertExitsWith($exitCode);
        self::assertSame(['', '', ''], [$this->supervisor->rest(), $this->supervisor->stderr(), \trim($this->supervisor->stdout())]);
    }

    public function testAnExitInAStreamEndsTheAnswer(): void
    {
        $this->startHandler('fn () => new Response(200, [], function () { echo "a"; flush(); echo "b"; exit(3); })');
        $answer = $this->supervisor->exchange();
        self::assertSame([['a', 'b'], true], [$answer->pieces, $answer->last]);
        self::assertSame(['END', 'DONE'], \array_slice($answer->frames, -2));
        $this->assertExitsWith(3);
    }

    public function testAnExitThatBreaksAPromisedLengthFailsTheAnswer(): void
    {
        $this->startHandler('function ($r, $w) { $w->start(200, [], 10); $w->write("short"); exit; }');
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'ERROR', 'DONE'], $answer->frames);
        self::assertTrue($answer->last);
    }

    public function testAnExitAfterTheResponseIsNoSecondAnswer(): void
    {
        $this->startHandler('function ($r, $w) { $w->afterResponse(function () { echo "late\n"; exit(7); }); return "hi"; }');
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
        self::assertSame(['hi', true, 'late'], [$answer->body, $answer->last, $this->supervisor->messages()]);
        $this->assertExitsWith(7);
    }

    public function fatals(): iterable
    {
        yield 'a fatal error' => ['eval("class A { abstract function f(); }");', 'Class A contains 1 abstract method'];
        yield 'an error of the user' => ['trigger_error("mine", E_USER_ERROR);', 'mine in '];
        yield 'no memory for much' => ['str_repeat("x", 1 << 40);', 'Possible integer overflow|Allowed memory size'];
        yield 'no memory for a little' => ['$x = []; while (true) { $x[] = new stdClass; }', 'Allowed memory size of 33554432 bytes exhausted'];
        yield 'no memory at all' => ['$GLOBALS["x"] = 0; while (true) { $GLOBALS["x"] = [$GLOBALS["x"]]; }', 'Allowed memory size of 33554432 bytes exhausted'];
        yield 'no memory in a deep stack' => ['$f = function ($f) { $a = range(1, 500); $f($f); return $a; }; $f($f);', 'Allowed memory size'];
        yield 'no memory in a buffer' => ['ob_start(); while (true) { echo str_repeat("x", 4096); }', 'Allowed memory size'];
        yield 'no time' => ['set_time_limit(1); while (true) { $i = 1; }', 'Maximum execution time of 1 second exceeded'];
        yield 'a class declared twice' => ['eval("class Twice {}"); eval("class Twice {}");', 'Cannot declare class Twice'];
    }

    /** @dataProvider fatals */
    public function testAFatalErrorIsReportedByAWorkerScript(string $code, string $message): void
    {
        $this->startScript("ini_set('memory_limit', '32M'); Worker::run(function () { $code });");
        $answer = $this->supervisor->exchange();
        self::assertSame(['ERROR', 'DONE'], $answer->frames);
        self::assertSame([2, true], [$answer->errorKind, $answer->last]);
        self::assertMatchesRegularExpression("/$message/", $answer->error);
        $this->assertExitsWith(255);
    }

    /** @dataProvider fatals */
    public function testAFatalErrorIsReportedByAFrontController(string $code, string $message): void
    {
        $this->startFrontController("header('X-A: b'); $code", ['-d', 'memory_limit=32M']);
        $answer = $this->supervisor->exchange();
        self::assertSame(['ERROR', 'DONE'], $answer->frames);
        self::assertSame([2, true], [$answer->errorKind, $answer->last]);
        self::assertMatchesRegularExpression("/$message/", $answer->error);
        $this->assertExitsWith(255);
        self::assertSame('', \trim($this->supervisor->stdout()), 'no header fields in the log');
    }

    /** PHP itself crashes in an ob_start() after this error, and sends its header fields, to the log here, before anybody can keep it from it. */
    public function testAnOutputCallbackThatUsesBuffersFailsItsRequestAndCrashesNothing(): void
    {
        $code = 'ob_start(function ($s) { ob_start(); return $s; }); echo "a"; ob_end_flush();';
        foreach ([fn () => $this->startHandler("function () { $code }"), fn () => $this->startFrontController($code)] as $start) {
            $start();
            $answer = $this->supervisor->exchange();
            self::assertSame(['ERROR', 'DONE'], $answer->frames);
            self::assertSame([2, true], [$answer->errorKind, $answer->last]);
            self::assertStringContainsString('Cannot use output buffering in output buffering display handlers', $answer->error);
            $this->assertExitsWith(255);
            $this->tearDown();
            $this->setUp();
        }
    }

    public function testAFatalErrorAfterTheHeadCutsTheAnswer(): void
    {
        $this->startFrontController('echo "first"; ob_flush(); flush(); trigger_error("mine", E_USER_ERROR);');
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'ERROR', 'DONE'], $answer->frames);
        self::assertSame('first', $answer->body);
    }

    public function testWhatWasPrintedBeforeAFatalErrorIsTheAnswerOfAFrontController(): void
    {
        $this->startFrontController('header("X-A: b"); echo "partial"; trigger_error("mine", E_USER_ERROR);');
        $answer = $this->supervisor->exchange();
        self::assertSame([500, 'partial', 'b', true], [$answer->status, $answer->body, $answer->header('X-A'), $answer->last]);
        $this->assertExitsWith(255);
        self::assertStringContainsString('mine', $this->supervisor->stderr());
        self::assertSame(['', ''], [\trim($this->supervisor->stdout()), $this->supervisor->rest()]);
    }

    public function testAnErrorPageOfAShutdownFunctionIsTheAnswerOfAFrontController(): void
    {
        $this->startFrontController('register_shutdown_function(function () { header("X-A: b"); echo "Sorry!"; }); str_repeat("x", 1 << 30);');
        $answer = $this->supervisor->exchange();
        self::assertSame([500, 'Sorry!', 'b', true], [$answer->status, $answer->body, $answer->header('X-A'), $answer->last]);
        $this->assertExitsWith(255);
        self::assertSame(['', ''], [\trim($this->supervisor->stdout()), $this->supervisor->rest()]);
    }

    public function testAShutdownFunctionRunsAtTheEndOfItsRequest(): void
    {
        $this->startFrontController('if ($_GET) { register_shutdown_function(function (...$a) { echo implode($a); }, "b", "c"); } echo "a";');
        self::assertSame('abc', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body);
        self::assertSame('a', $this->supervisor->exchange()->body);
        $this->assertStopsQuietly();
    }

    public function testAShutdownFunctionOfAFileThatIsLoadedOnceRunsAtTheEndOfEachRequest(): void
    {
        $once = $this->supervisor->file('once.php', '<?php register_shutdown_function(function () { echo "b"; });');
        $this->startFrontController("require_once '$once'; echo 'a'; if (\$_GET) { exit; }");
        self::assertSame('ab', $this->supervisor->exchange()->body);
        self::assertSame('ab', $this->supervisor->exchange()->body);
        self::assertSame('ab', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body);
    }

    public function testAFatalErrorAfterTheResponseIsALogLine(): void
    {
        $this->startHandler('function ($r, $w) { $w->afterResponse(fn () => trigger_error("mine", E_USER_ERROR)); return "hi"; }');
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
        self::assertTrue($answer->last);
        self::assertStringStartsWith('mine in ', $this->supervisor->messages());
        self::assertSame(2, $this->supervisor->log[0][0]);
    }

    public function boots(): iterable
    {
        yield 'an exception' => ['Worker::connect(); throw new RuntimeException("no database");', 'no database', 255];
        yield 'an exception before it connects' => ['throw new RuntimeException("no database");', 'no database', 1];
        yield 'a fatal error' => ['Worker::connect(); trigger_error("mine", E_USER_ERROR);', 'mine in ', 255];
        yield 'a syntax error' => ['this is no PHP', 'syntax error', 1];
        yield 'an exit' => ['Worker::connect(); exit(0);', 'before it was ready', 1];
        yield 'its end' => ['Worker::connect();', 'before it was ready', 1];
        yield 'its end before it connects' => ['echo "hello";', 'without calling Cetane.Worker::connect', 1];
        yield 'no memory' => ['Worker::connect(); ini_set("memory_limit", "8M"); $x = []; while (true) { $x[] = [1]; }', 'Allowed memory size', 255];
    }

    /** @dataProvider boots */
    public function testABootThatFailsSaysWhy(string $code, string $message, int $exitCode): void
    {
        $this->bootScript($code);
        $frame = $this->supervisor->next();
        self::assertSame(['ERROR', 0, "\x03"], [$frame->name, $frame->number, $frame->payload[0]]);
        self::assertMatchesRegularExpression("/$message/", $frame->message());
        $this->assertExitsWith($exitCode);
        self::assertSame('', $this->supervisor->rest());
    }

    public function testAMissingFrontControllerFailsTheBoot(): void
    {
        $this->supervisor->start(self::CLIENT . '/bin/cetane-worker.php', [], 'php-cgi')
            ->hello(['kind' => 'front-controller', 'script' => '/nowhere/index.php']);
        self::assertStringContainsString('/nowhere/index.php is no readable file', $this->supervisor->next()->message());
        $this->assertExitsWith(255);
    }
}
