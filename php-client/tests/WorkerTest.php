<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\WorkerTestCase;

/** @covers \Cetane\Worker */
final class WorkerTest extends WorkerTestCase
{
    public function testTheProcessItselfHasNoSession(): void
    {
        $directory = \dirname($this->supervisor->file('x', ''));
        $this->startScript(
            'Worker::run(fn () => session_status() . " " . (isset($_SESSION) ? "leak" : "none"));',
            ['-d', 'session.auto_start=1', '-d', "session.save_path=$directory"],
        );
        self::assertSame(\PHP_SESSION_NONE . ' none', $this->supervisor->exchange()->body);
        self::assertSame([], \glob("$directory/sess_*"));
        $this->assertStopsQuietly();
    }

    public function testAnswersOneRequestAfterTheOther(): void
    {
        $this->startHandler('fn (Request $r) => new Response(201, ["Content-Type" => "text/plain", "X-A" => ["1", "2"]], "hi " . $r->uri())');
        foreach (['/a', '/b'] as $uri) {
            $answer = $this->supervisor->exchange(['REQUEST_URI' => $uri]);
            self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
            self::assertSame([201, "hi $uri", 5], [$answer->status, $answer->body, $answer->length]);
            self::assertSame(['Content-Type: text/plain', 'X-A: 1', 'X-A: 2'], $answer->lines);
            self::assertFalse($answer->last);
            self::assertGreaterThan(1_000_000, $answer->peakBytes);
        }
        $this->assertStopsQuietly();
    }

    public function testTellsTheFactsAboutItself(): void
    {
        $this->bootScript('Worker::run(fn () => "hi");', [], 'php', 'file teleport');
        $ready = $this->supervisor->next();
        ['version' => $version, 'names' => $names] = \unpack('nversion/Nnames/Nvalues', $ready->payload);
        $lists = \substr($ready->payload, 10);
        $facts = \array_combine(\explode("\0", \substr($lists, 0, $names)), \explode("\0", \substr($lists, $names)));
        self::assertSame(1, $version);
        self::assertSame((string) $this->supervisor->pid(), $facts['pid']);
        self::assertSame([\PHP_VERSION, 'cli', 'file'], [$facts['php'], $facts['sapi'], $facts['capabilities']]);
        self::assertGreaterThan(0, (int) $facts['boot-micros']);
    }

    public function testAnAnswerThatIsThereAsAWholeLeavesInOneWrite(): void
    {
        // The worker counts its own writes.
        $this->startHandler('function () { static $before = 0; $now = (int) substr(file("/proc/self/io")[3], 7);'
            . ' $writes = $now - $before; $before = $now; return "$writes"; }');
        $this->supervisor->exchange();
        self::assertSame('1', $this->supervisor->exchange()->body);
    }

    public function testRespondCompletesTheAnswerAndWaitTheRequest(): void
    {
        $this->startScript(<<<'PHP'
            $worker = Worker::connect();
            while ($request = $worker->wait()) {
                $worker->respond(new Response(200, [], 'early'));
            }
            PHP);
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
        $this->assertStopsQuietly();
    }

    public function testWorkAfterTheResponseRunsBetweenEndAndDone(): void
    {
        $this->startHandler(<<<'PHP'
            function (Request $r, Worker $w) {
                $w->afterResponse(function () use ($w) { $w->log('notice', 'first'); usleep(2000); });
                $w->afterResponse(function () { throw new RuntimeException('second fails'); });
                $w->afterResponse(fn () => $w->log('notice', 'third'));
                return 'hi';
            }
            PHP);
        $answer = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
        self::assertGreaterThanOrEqual(2000, $answer->terminateMicros);
        self::assertSame([[5, 1, 'first'], [5, 1, 'third']], [$this->supervisor->log[0], $this->supervisor->log[2]]);
        self::assertStringContainsString('second fails', $this->supervisor->log[1][2]);
        self::assertSame('hi', $this->supervisor->exchange()->body);
    }

    public function testAnUncaughtExceptionFailsItsRequestOnly(): void
    {
        $this->startHandler('fn (Request $r) => $r->uri() === "/bad" ? throw new DomainException("no \"bad\"") : "good"');
        $answer = $this->supervisor->exchange(['REQUEST_URI' => '/bad']);
        self::assertSame(['ERROR', 'DONE'], $answer->frames);
        self::assertSame(1, $answer->errorKind);
        self::assertStringContainsString('DomainException: no "bad"', $answer->error);
        self::assertSame('good', $this->supervisor->exchange()->body);
        $this->assertStopsQuietly();
    }

    public function testARequestIsDecodedAsPhpWouldDoIt(): void
    {
        $this->startHandler(<<<'PHP'
            fn (Request $r) => json_encode([$r->method(), $r->path(), $r->query(), $r->form(), $r->cookies(), $r->header('x-FORWARDED-for'),
                $r->headers(), $r->body(), stream_get_contents($r->bodyStream()), $r->bodyLength(), $r->server()])
            PHP);
        $server = [
            'REQUEST_METHOD' => 'PUT', 'REQUEST_URI' => '/a%20b?x[]=1&x[]=2', 'QUERY_STRING' => 'x[]=1&x[]=2',
            'CONTENT_TYPE' => 'application/x-www-form-urlencoded; charset=utf-8', 'CONTENT_LENGTH' => '9',
            'HTTP_COOKIE' => 'a=1; a=2; b.c=%20', 'HTTP_X_FORWARDED_FOR' => '::1', 'SERVER_SOFTWARE' => 'other',
        ];
        $answer = $this->supervisor->exchange($server, 'p.q=1&r=2')->json();
        self::assertSame(['PUT', '/a%20b', ['x' => ['1', '2']], ['p_q' => '1', 'r' => '2'], ['a' => '1', 'b_c' => ' '], '::1'], \array_slice($answer, 0, 6));
        self::assertSame(['content-type', 'content-length', 'cookie', 'x-forwarded-for'], \array_keys($answer[6]));
        self::assertSame(['p.q=1&r=2', 'p.q=1&r=2', 9], \array_slice($answer, 7, 3));
        self::assertSame(1_700_000_000, $answer[10]['REQUEST_TIME']);
        self::assertSame(1_700_000_000.25, $answer[10]['REQUEST_TIME_FLOAT']);
        self::assertSame('other', $answer[10]['SERVER_SOFTWARE'], 'the request replaces the constant part');
    }

    public function testABodyInAFileIsReadFromThere(): void
    {
        $this->startHandler(<<<'PHP'
            fn (Request $r) => json_encode([$r->bodyFile(), $r->bodyLength(), md5($r->body()), strlen(stream_get_contents($r->bodyStream(), 10, 5))])
            PHP);
        $file = $this->supervisor->file('body', \str_repeat('0123456789', 100_000));
        self::assertSame(
            [$file, 1_000_000, \md5_file($file), 10],
            $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'], $file, 1)->json(),
        );
    }

    public function bodies(): iterable
    {
        yield 'a generator' => ['(function () { yield "a"; yield ""; yield "b"; })()', ['a', 'b'], -1];
        yield 'an array' => ['["a", "b"]', ['a', 'b'], -1];
        yield 'a closure that prints' => ['function () { echo "a", "b"; }', ['ab'], -1];
        yield 'a closure that flushes' => ['function () { echo "a"; flush(); echo "b"; }', ['a', 'b'], -1];
        yield 'a closure with a buffer of its own' => ['function () { ob_start(); echo "a"; ob_flush(); flush(); echo "b"; }', ['a', 'b'], -1];
        yield 'a closure that is a generator' => ['function () { yield "a"; yield "b"; }', ['a', 'b'], -1];
        yield 'a closure that prints and yields' => ['function () { echo "a"; yield "b"; echo "c"; }', ['ab', 'c'], -1];
        yield 'a closure that returns' => ['fn () => "ab"', ['ab'], -1];
        yield 'a closure that flushes implicitly' => ['function () { ob_implicit_flush(); echo "a"; echo "b"; }', ['a', 'b'], -1];
        yield 'a stream' => ['fopen("data:,ab", "r")', ['ab'], -1];
        yield 'a stringable' => ['new class { function __toString() { return "ab"; } }', ['ab'], 2];
        yield 'nothing' => ['""', [], 0];
        yield 'a generator of nothing' => ['(function () { yield from []; })()', [], -1];
    }

    /** @dataProvider bodies */
    public function testABodyMayBe(string $body, array $pieces, int $length): void
    {
        $this->startHandler("fn () => new Response(200, [], $body)");
        $answer = $this->supervisor->exchange();
        self::assertSame($pieces, $answer->pieces);
        self::assertSame($length, $answer->length);
        self::assertSame('END', $answer->frames[\count($answer->frames) - 2]);
        $this->assertStopsQuietly();
    }

    public function testAStreamedBodyLeavesPieceByPiece(): void
    {
        $gate = $this->supervisor->file('gate', '');
        \unlink($gate);
        \posix_mkfifo($gate, 0600);
        $this->startHandler("fn () => new Response(200, [], function () { echo 'first'; flush(); fopen('$gate', 'r'); echo 'second'; })");
        $this->supervisor->request();
        self::assertSame('HEAD', $this->supervisor->next()->name);
        self::assertSame('first', $this->supervisor->next()->payload, 'before the worker goes on');
        \fclose(\fopen($gate, 'w'));
        self::assertSame('second', $this->supervisor->next()->payload);
    }

    public function testALargeBodyIsCutIntoFrames(): void
    {
        $this->startScript('ini_set("memory_limit", "256M"); Worker::run(fn () => new Response(200, [], str_repeat("x", 40_000_000)));');
        $answer = $this->supervisor->exchange();
        self::assertSame([16_777_216, 16_777_216, 6_445_568], \array_map('strlen', $answer->pieces));
        self::assertSame(40_000_000, $answer->length);
    }

    public function testAFileIsLeftToTheSupervisorWhereItCan(): void
    {
        $path = $this->supervisor->file('data.txt', '0123456789');
        $this->bootScript("Worker::run(fn () => new Response(200, [], new FileBody('$path', 2, 5)));", [], 'php', 'file');
        $this->supervisor->next();
        $this->supervisor->request();
        self::assertSame('HEAD', $this->supervisor->next()->name);
        $frame = $this->supervisor->next();
        self::assertSame(['FILE', \pack('JJ', 2, 5) . $path], [$frame->name, $frame->payload]);
        self::assertSame('END', $this->supervisor->next()->name);
    }

    public function testAFileIsReadByPhpWhereTheSupervisorCannot(): void
    {
        $path = $this->supervisor->file('data.txt', '0123456789');
        $this->startHandler("fn () => new Response(200, [], new FileBody('$path', 2, 5, true))");
        $answer = $this->supervisor->exchange();
        self::assertSame(['23456', 5], [$answer->body, $answer->length]);
        self::assertFileDoesNotExist($path);
    }

    public function testABrokenStreamFailsItsRequestAfterTheHead(): void
    {
        $this->startHandler('fn () => new Response(200, [], (function () { yield "a"; throw new RuntimeException("broken"); })())');
        self::assertSame(['HEAD', 'DATA', 'ERROR', 'DONE'], $this->supervisor->exchange()->frames);
        self::assertSame(['HEAD', 'DATA', 'ERROR', 'DONE'], $this->supervisor->exchange()->frames);
    }

    public function testABodyThatFailsAtItsFirstPieceIsAnAnswerOfItsOwn(): void
    {
        $this->startHandler('fn () => new Response(200, [], (function () { throw new RuntimeException("broken"); yield; })())');
        self::assertSame(['ERROR', 'DONE'], $this->supervisor->exchange()->frames);
    }

    public function testAPromisedLengthIsKeptOrTheRequestFails(): void
    {
        $this->startHandler('fn ($r) => new Response(200, ["content-length" => "4"], (fn () => yield $r->queryString())())');
        self::assertSame([4, 'four'], [($a = $this->supervisor->exchange(['QUERY_STRING' => 'four']))->length, $a->body]);
        foreach (['abc', 'abcde'] as $body) {
            $answer = $this->supervisor->exchange(['QUERY_STRING' => $body]);
            self::assertSame('ERROR', $answer->frames[\count($answer->frames) - 2]);
            self::assertStringContainsString('promised 4 bytes', $answer->error);
        }
    }

    public function badHeaders(): iterable
    {
        yield 'a line break' => ["a\r\nSet-Cookie: b", 'line break'];
        yield 'a NUL' => ["a\0b", 'NUL'];
        yield 'too much' => [\str_repeat('x', 65_520), 'at most 65524 fit'];
    }

    /** @dataProvider badHeaders */
    public function testAHeaderFieldThatCannotBeSentFailsTheRequest(string $value, string $message): void
    {
        $this->startHandler('fn () => new Response(200, ["X-A" => ' . \var_export($value, true) . '], "hi")');
        $answer = $this->supervisor->exchange();
        self::assertSame(['ERROR', 'DONE'], $answer->frames);
        self::assertStringContainsString($message, $answer->error);
    }

    public function testInterimAnswersPrecedeTheFinalOne(): void
    {
        $this->startHandler('function ($r, $w) { $w->interim(103, ["Link" => "</a.css>; rel=preload"]); return "hi"; }');
        $answer = $this->supervisor->exchange();
        self::assertSame([[103, ['Link: </a.css>; rel=preload']]], $answer->interim);
        self::assertSame([200, 'hi'], [$answer->status, $answer->body]);
    }

    public function testAnAnswerMayBeGivenByHand(): void
    {
        $this->startScript(<<<'PHP'
            $worker = Worker::connect();
            while ($worker->wait()) {
                $worker->start(202, ['X-A' => 'b'], 2);
                $worker->write('h');
                $worker->write('i');
                $worker->end();
            }
            PHP);
        $answer = $this->supervisor->exchange();
        self::assertSame([202, 2, ['h', 'i']], [$answer->status, $answer->length, $answer->pieces]);
    }

    public function testMisuseIsRefusedWithoutHarm(): void
    {
        $this->startHandler(<<<'PHP'
            function ($r, $w) {
                foreach ([fn () => $w->write('x'), fn () => $w->end(), fn () => $w->finish(), fn () => $w->wait()] as $misuse) {
                    try { $misuse(); } catch (LogicException $e) { $caught[] = 1; }
                }
                $w->respond('hi');
                try { $w->respond('again'); } catch (LogicException $e) { $w->log('info', 'refused ' . count($caught)); }
            }
            PHP);
        self::assertSame('hi', $this->supervisor->exchange()->body);
        self::assertSame('refused 4', $this->supervisor->messages());
    }

    public function testARequestWithoutAnAnswerFails(): void
    {
        $this->startHandler('function () {}');
        self::assertStringContainsString('has no answer', $this->supervisor->exchange()->error);
        self::assertStringContainsString('has no answer', $this->supervisor->exchange()->error);
    }

    public function testWhatIsPrintedOutsideAStreamGoesToTheLogWithItsRequest(): void
    {
        $this->startScript(<<<'PHP'
            $worker = Worker::connect();
            echo "while\nbooting";
            while ($request = $worker->wait()) {
                echo "in the request";
                $worker->respond('hi');
                echo "after the answer\n";
            }
            PHP);
        self::assertSame('hi', $this->supervisor->exchange()->body);
        self::assertSame(
            [[6, 0, 'while'], [6, 0, 'booting'], [6, 1, 'in the request'], [6, 1, 'after the answer']],
            $this->supervisor->log,
        );
        $this->assertStopsQuietly();
    }

    public function testWarningsAndTheErrorLogGoToTheErrorOutput(): void
    {
        $this->startHandler('function () { error_log("logged"); echo $undefined; return "hi"; }');
        self::assertSame('hi', $this->supervisor->exchange()->body);
        self::assertMatchesRegularExpression(
            '/^logged\nPHP Warning:  Undefined variable \$undefined in .*worker\.php on line \d+\n$/',
            $this->supervisor->stderr(),
        );
    }

    public function testBuffersLeftOpenAreGoneWithTheRequest(): void
    {
        $this->startHandler('function () { $level = ob_get_level(); ob_start(); ob_start(); echo "x"; throw new Exception("$level"); }');
        foreach ([1, 2] as $_) {
            self::assertStringContainsString('Exception: 0 in', $this->supervisor->exchange()->error);
        }
    }

    public function testTheClientThatLeavesIsNoticed(): void
    {
        $this->startHandler('function ($r, $w) { while (!$w->isCancelled()) { usleep(200); } return (string) connection_aborted(); }');
        $this->supervisor->request()->cancel();
        self::assertSame('1', $this->supervisor->answer()->body);
        $this->supervisor->request()->cancel();
        self::assertSame('1', $this->supervisor->answer()->body);
    }

    public function testAStreamToAClientThatLeftEnds(): void
    {
        $this->startHandler(<<<'PHP'
            fn (Request $r) => new Response(200, [], match ($r->uri()) {
                '/generator' => (function () { while (true) { yield 'x'; } })(),
                '/closure' => function () { while (true) { echo 'x'; flush(); } },
                default => 'alive',
            })
            PHP);
        foreach (['/generator', '/closure'] as $uri) {
            $this->supervisor->request(['REQUEST_URI' => $uri])->cancel();
            $answer = $this->supervisor->answer();
            self::assertSame(['END', 'DONE'], \array_slice($answer->frames, -2));
            self::assertSame('alive', $this->supervisor->exchange()->body);
        }
    }

    public function testACancelThatCrossedDoneIsIgnored(): void
    {
        $this->startHandler('fn () => "hi"');
        $this->supervisor->exchange();
        $this->supervisor->cancel();
        self::assertSame('hi', $this->supervisor->exchange()->body);
    }

    public function testAStopDuringARequestEndsTheWorkerAfterIt(): void
    {
        $this->startScript('Worker::run(function ($r, $w) { $w->isCancelled(); return "hi"; }); echo "shutdown code";');
        $this->supervisor->request()->stop();
        self::assertSame('hi', $this->supervisor->answer()->body);
        self::assertSame(0, $this->supervisor->exitCode());
        $rest = $this->supervisor->rest();
        self::assertStringEndsWith('shutdown code', $rest, 'as a log frame');
    }

    public function testACancelIsSeenBehindAStop(): void
    {
        $this->startHandler('function ($r, $w) { while (!$w->isCancelled()) { usleep(200); } return "hi"; }');
        $this->supervisor->request()->stop()->cancel();
        self::assertSame('hi', $this->supervisor->answer()->body);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testTheEndOfTheStreamEndsAnIdleWorker(): void
    {
        $this->startHandler('fn () => "hi"');
        $this->supervisor->exchange();
        $this->supervisor->hangUp();
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testARetiringWorkerSaysSoAndLeaves(): void
    {
        $this->startHandler('function ($r, $w) { $w->retire(); return "bye"; }');
        $answer = $this->supervisor->exchange();
        self::assertTrue($answer->last);
        self::assertSame('bye', $answer->body);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testAViolationOfTheSupervisorEndsTheWorkerWithCode76(): void
    {
        $this->startHandler('fn () => "hi"');
        $this->supervisor->send('Hello');
        $this->supervisor->hangUp();
        $error = $this->supervisor->next();
        self::assertSame(['ERROR', "\x04"], [$error->name, $error->payload[0]]);
        self::assertStringContainsString('MAGIC', $error->message());
        $this->assertExitsWith(76);
    }

    public function testAnotherVersionIsRefused(): void
    {
        $script = $this->supervisor->file('worker.php', '<?php Cetane\Worker::run(fn () => "hi");');
        $this->supervisor->start($script, ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php'])->hello([], [], 2, 7);
        self::assertStringContainsString('versions 2 to 7 of the protocol, this worker 1 to 1', $this->supervisor->next()->message());
        $this->assertExitsWith(76);
    }

    public function testChildProcessesDoNotTakeThemselvesForWorkers(): void
    {
        $this->startHandler('fn () => json_encode([getenv("CETANE_IN"), getenv("CETANE_WORKER"), shell_exec("ls -l /proc/self/fd")])');
        [$in, $worker, $descriptors] = $this->supervisor->exchange()->json();
        self::assertSame([false, '1'], [$in, $worker]);
        self::assertDoesNotMatchRegularExpression('~cetane-test-\w+/(in|out)$~m', $descriptors, 'the FIFOs are not inherited');
    }

    public function testFieldsOfOneRequestAreInNoOtherAnswer(): void
    {
        $this->startHandler(
            'function (Request $request) { header("X-Of: " . $request->server()["REQUEST_URI"], false);'
            . ' $request->server()["REQUEST_URI"] === "/2" && exit(json_encode(headers_list())); return "kept"; }'
        );
        self::assertSame('kept', $this->supervisor->exchange(['REQUEST_URI' => '/1'])->body);
        self::assertSame('["X-Of: \/2"]', $this->supervisor->exchange(['REQUEST_URI' => '/2'])->body);
    }

    public function testTheTimeLimitOfARequestIsNotThatOfTheNext(): void
    {
        $this->startHandler(<<<'PHP'
            function (Request $request): string {
                if ($request->variable('REQUEST_URI') === '/limit') {
                    set_time_limit(1);
                    return 'limited';
                }
                $cpu = fn (): float => getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6;
                for ($until = $cpu() + 1.5; $cpu() < $until;);
                return 'long';
            }
            PHP);
        self::assertSame('limited', $this->supervisor->exchange(['REQUEST_URI' => '/limit'])->body);
        self::assertSame('long', $this->supervisor->exchange(['REQUEST_URI' => '/'])->body);
    }

    public function testALimitThatAScriptSetsAtBootIsThatOfEachRequest(): void
    {
        $this->startScript(<<<'PHP'
            set_time_limit(1);
            Worker::run(function (): string {
                $cpu = fn (): float => getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6;
                for ($until = $cpu() + 0.4; $cpu() < $until; hash('sha256', str_repeat('x', 1_000_000)));
                return 'done';
            });
            PHP);
        for ($request = 0; $request < 4; $request++) {
            self::assertSame('done', $this->supervisor->exchange([])->body);
        }
    }

    public function testAForkedChildThatExitsSaysNothing(): void
    {
        $this->startHandler('function () { if (pcntl_fork() === 0) { echo "child"; exit(0); } pcntl_wait($status); return "parent"; }');
        foreach ([1, 2] as $_) {
            $answer = $this->supervisor->exchange();
            self::assertSame(['parent', false], [$answer->body, $answer->last]);
        }
        $this->assertStopsQuietly();
    }

    public function testMemoryStaysFlat(): void
    {
        $this->startHandler(<<<'PHP'
            function (Request $r) { $r->query(); $r->headers(); $r->cookies();
            return new Response(200, ["X" => "y"], (string) memory_get_usage()); }
            PHP);
        $server = ['HTTP_COOKIE' => 'a=1; b=2', 'QUERY_STRING' => 'x=1'];
        for ($i = 0; $i < 200; $i++) {
            $before = (int) $this->supervisor->exchange($server + ['HTTP_X_NUMBER' => (string) $i])->body;
        }
        for ($i = 0; $i < 10_000; $i++) {
            $after = (int) $this->supervisor->exchange($server + ['HTTP_X_NUMBER' => (string) $i])->body;
        }
        self::assertLessThan(2048, $after - $before);
    }
}
