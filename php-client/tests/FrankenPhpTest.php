<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\WorkerTestCase;

/**
 * Worker scripts that follow FrankenPHP's documentation, unchanged.
 *
 * @covers \Cetane\FrankenPhp
 * @covers \Cetane\SapiExchange
 */
final class FrankenPhpTest extends WorkerTestCase
{
    /** The loop that its manual shows. */
    private const CONVENTION = <<<'PHP'
        ignore_user_abort(true);
        $booted = 0;
        $boots = ++$booted;
        $handler = static function () use ($boots): void {
            static $served = 0;
            header('X-Served: ' . ++$served);
            setcookie('seen', (string) $boots);
            http_response_code($_GET['status'] ?? 200);
            echo json_encode([$_GET, $_POST, $_COOKIE, $_SERVER['REQUEST_METHOD'], $_SERVER['FRANKENPHP_WORKER'], file_get_contents('php://input')]);
        };
        $most = (int) ($_SERVER['MAX_REQUESTS'] ?? 0);
        $count = 0;
        do {
            $running = frankenphp_handle_request($handler);
            error_log('between ' . ++$count);
            gc_collect_cycles();
        } while ($running && ($most === 0 || $count < $most));
        error_log('cleaned up');
        PHP;

    public function testTheDocumentedLoopServesRequestsAndLeavesOnStop(): void
    {
        $this->startFrankenPhp(self::CONVENTION);
        $first = $this->supervisor->exchangeUntilEnd([
            'REQUEST_METHOD' => 'POST', 'QUERY_STRING' => 'status=201', 'HTTP_COOKIE' => 'a=b', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        ], 'x=1');
        self::assertSame([201, '1', 'seen=1'], [$first->status, $first->header('X-Served'), $first->header('Set-Cookie')]);
        self::assertSame([['status' => '201'], ['x' => '1'], ['a' => 'b'], 'POST', '1', 'x=1'], $first->json());
        $this->supervisor->done();

        $second = $this->supervisor->exchange();
        self::assertSame([200, '2'], [$second->status, $second->header('X-Served')]);
        self::assertSame([[], [], [], 'GET', '1', ''], $second->json(), 'nothing is left of the request before');
        $this->supervisor->stop();
        $this->assertExitsWith(0);
        self::assertSame(['between 1', 'between 2', 'between 3', 'cleaned up'], $this->supervisor->errorLines());
        self::assertSame(['', ''], [\trim($this->supervisor->stdout()), $this->supervisor->rest()]);
    }

    public function testMaxRequestsIsTheScriptsOwnAndTheSupervisorIsToldThatItLeaves(): void
    {
        $this->startFrankenPhp(self::CONVENTION, [], ['MAX_REQUESTS' => '2']);
        self::assertFalse($this->supervisor->exchange()->last);
        self::assertTrue($this->supervisor->exchange()->last);
        $this->assertExitsWith(0);
        self::assertSame(['between 1', 'between 2', 'cleaned up'], $this->supervisor->errorLines());
    }

    public function testAFailedRequestMayBeTheLastOneToo(): void
    {
        $this->startFrankenPhp('frankenphp_handle_request(function () { throw new Exception("broken"); });');
        $answer = $this->supervisor->exchange();
        self::assertSame([['ERROR', 'DONE'], true], [$answer->frames, $answer->last]);
        $this->assertExitsWith(0);
    }

    public function testTheClientHasItsAnswerBeforeTheScriptGoesOn(): void
    {
        $fifo = \dirname($this->supervisor->file('x', '')) . '/gate';
        \posix_mkfifo($fifo, 0600);
        $this->startFrankenPhp(
            "while (frankenphp_handle_request(function () { echo 'hi'; })) { echo \$_SERVER['REQUEST_URI'], PHP_EOL; fopen('$fifo', 'r'); }"
        );
        $this->supervisor->request(['REQUEST_URI' => '/mine']);
        self::assertSame(['HEAD', 'DATA', 'END'], [$this->supervisor->next()->name, $this->supervisor->next()->name, $this->supervisor->next()->name]);
        \fclose(\fopen($fifo, 'w'));
        self::assertSame('DONE', $this->supervisor->next()->name);
        self::assertSame('/mine', $this->supervisor->messages(), 'what is printed there is for the log; the superglobals are still there');
        $this->assertStopsQuietly();
    }

    public function testAnUncaughtExceptionFailsItsRequestAndNotTheWorker(): void
    {
        $this->startFrankenPhp(<<<'PHP'
            do {
                $ok = frankenphp_handle_request(function () {
                    if ($_GET) { header('X-Secret: 1'); ob_start(); echo 'part'; session_id('open'); session_start(); throw new Error('broken'); }
                    echo 'fine ', ob_get_level(), isset($_SESSION) ? ' leak' : '';
                });
            } while ($ok);
            PHP, ['-d', 'output_buffering=0']);
        foreach ([1, 2] as $ignored) {
            $failed = $this->supervisor->exchange(['QUERY_STRING' => 'fail']);
            self::assertSame(['ERROR', 'DONE'], $failed->frames);
            self::assertStringContainsString('broken', $failed->error);
            self::assertFalse($failed->last);
            $fine = $this->supervisor->exchange();
            self::assertSame([200, 'fine 0', null], [$fine->status, $fine->body, $fine->header('X-Secret')]);
        }
        $this->assertStopsQuietly();
    }

    public function testAnExitAnswersWithWhatWasPrintedAndEndsTheWorker(): void
    {
        $this->startFrankenPhp('while (frankenphp_handle_request(function () { http_response_code(418); header("X-A: b"); echo "bye"; exit(3); }));');
        $answer = $this->supervisor->exchange();
        self::assertSame([418, 'bye', 'b', true], [$answer->status, $answer->body, $answer->header('X-A'), $answer->last]);
        $this->assertExitsWith(3);
    }

    public function testAClientThatLeavesEndsNothing(): void
    {
        $this->startFrankenPhp(
            'while (frankenphp_handle_request(function () { echo "a"; while (!connection_aborted()); flush(); echo "b"; flush(); }));',
            ['-d', 'output_buffering=0'],
        );
        $this->supervisor->request()->cancel();
        $answer = $this->supervisor->answer();
        self::assertSame([['a', 'b'], ['HEAD', 'DATA', 'DATA', 'END', 'DONE']], [$answer->pieces, $answer->frames]);
    }

    public function finishers(): iterable
    {
        yield ['frankenphp_finish_request'];
        yield ['fastcgi_finish_request'];
    }

    /** @dataProvider finishers */
    public function testTheAnswerIsCompleteWhenTheScriptSaysSo(string $function): void
    {
        $this->startFrankenPhp(
            "while (frankenphp_handle_request(function () { echo 'yes'; \$r = [$function(), $function()]; echo 'dropped'; error_log(json_encode(\$r)); }));"
        );
        foreach ([1, 2] as $ignored) {
            $answer = $this->supervisor->exchange();
            self::assertSame(['yes', ['HEAD', 'DATA', 'END', 'DONE']], [$answer->body, $answer->frames]);
        }
        $this->supervisor->stop();
        $this->assertExitsWith(0);
        self::assertSame(['[true,false]', '[true,false]'], $this->supervisor->errorLines());
    }

    public function testEarlyHintsLeaveBeforeTheAnswer(): void
    {
        $this->startFrankenPhp(<<<'PHP'
            while (frankenphp_handle_request(function () {
                http_response_code(404);
                header('Link: </style.css>; rel=preload; as=style');
                header('X-Both: 1');
                $sent = headers_send(103);
                header_remove('Link');
                echo json_encode([$sent, http_response_code(), headers_sent()]);
            }));
            PHP, ['-d', 'expose_php=0']);
        $answer = $this->supervisor->exchange();
        self::assertSame([[103, ['Link: </style.css>; rel=preload; as=style', 'X-Both: 1']]], $answer->interim);
        self::assertSame([404, [1, 404, false]], [$answer->status, $answer->json()]);
        self::assertSame(['X-Both: 1', 'Content-type: text/html; charset=UTF-8'], $answer->lines);
    }

    public function testAStatusThatEarlyHintsHaveSetIsNotThatOfTheAnswer(): void
    {
        $this->startFrankenPhp('while (frankenphp_handle_request(function () { header("Link: <a>", true, 103); headers_send(103); echo "hi"; }));');
        $answer = $this->supervisor->exchange();
        self::assertSame([103, 200, 'hi'], [$answer->interim[0][0], $answer->status, $answer->body]);
    }

    public function testTheFinalHeadMayBeSentBeforeTheBodyIsThere(): void
    {
        $this->startFrankenPhp(<<<'PHP'
            while (frankenphp_handle_request(function () {
                header('X-A: b');
                $sent = [headers_send(202), headers_sent(), headers_send(), headers_send(103)];
                echo json_encode($sent);
            }));
            PHP);
        $answer = $this->supervisor->exchange();
        self::assertSame([202, 'b', -1], [$answer->status, $answer->header('X-A'), $answer->length]);
        self::assertSame([0, true, -1, -1], $answer->json());
    }

    public function testACallbackThatTakesAnArgumentGetsNothing(): void
    {
        $this->startFrankenPhp('while (frankenphp_handle_request(function (mixed $message) { var_dump($message); return "ignored"; }));');
        self::assertSame("NULL\n", $this->supervisor->exchange()->body);
    }

    public function testWhatTheBootPrintsIsForTheLog(): void
    {
        $this->startFrankenPhp('echo "booting\n"; flush(); while (frankenphp_handle_request(function () { header("X-A: b"); echo "hi"; }));');
        $answer = $this->supervisor->exchange();
        self::assertSame(['hi', 'b', 'booting'], [$answer->body, $answer->header('X-A'), $this->supervisor->messages()]);
        $this->assertStopsQuietly();
    }

    public function testABootSeesTheWorkersEnvironmentAndItsScript(): void
    {
        $this->startFrankenPhp(<<<'PHP'
            $boot = [$_SERVER['FRANKENPHP_WORKER'], $_SERVER['SCRIPT_FILENAME'] === __FILE__, $_SERVER['NAMED'], isset($_SERVER['CETANE_IN'])];
            while (frankenphp_handle_request(function () use ($boot) {
                echo json_encode([...$boot, $_SERVER['NAMED'], $_SERVER['SCRIPT_FILENAME'] === __FILE__, getenv('FRANKENPHP_WORKER'), getcwd() === __DIR__]);
            }));
            PHP, [], ['NAMED' => 'here']);
        self::assertSame(['1', true, 'here', false, 'here', true, false], \array_slice($this->supervisor->exchange()->json(), 0, 7));
    }

    public function testSessionsAndUploadsAreThoseOfTheClient(): void
    {
        $this->startFrankenPhp('while (frankenphp_handle_request(function () { session_start(); echo $_SESSION["n"] = ($_SESSION["n"] ?? 0) + 1; }));');
        $alice = $this->supervisor->exchange();
        $id = \strtok(\substr((string) $alice->header('Set-Cookie'), 10), ';');
        self::assertSame(['1', '1', '2'], [
            $alice->body,
            $this->supervisor->exchange()->body,
            $this->supervisor->exchange(['HTTP_COOKIE' => "PHPSESSID=$id"])->body,
        ]);
    }

    public function testAScriptThatNeverTakesARequestFailsToBoot(): void
    {
        $this->bootFrankenPhp('echo "no loop";');
        $frame = $this->supervisor->next();
        self::assertSame('ERROR', $frame->name);
        self::assertStringContainsString('before it was ready', $frame->message());
        $this->assertExitsWith(1);
    }

    public function testTheCliSapiIsRefusedAtBoot(): void
    {
        $this->bootFrankenPhp('while (frankenphp_handle_request(fn () => 0));', [], [], 'php');
        self::assertStringContainsString('Set app.php to a php-cgi', $this->supervisor->next()->message());
        $this->assertExitsWith(1);
    }

    public function testOutsideWorkerModeTheLoopIsRefused(): void
    {
        $this->startFrontController('try { frankenphp_handle_request(fn () => 0); } catch (RuntimeException $e) { echo $e->getMessage(); }');
        self::assertStringContainsString('not in worker mode', $this->supervisor->exchange()->body);
    }

    public function testAFrontControllerSendsEarlyHintsToo(): void
    {
        $this->startFrontController('header("Link: <a>"); headers_send(103); echo "hi"; frankenphp_finish_request(); echo "dropped";');
        $answer = $this->supervisor->exchange();
        self::assertSame([103, 'hi', 200], [$answer->interim[0][0], $answer->body, $answer->status]);
    }
}
