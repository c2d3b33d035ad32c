<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\WorkerTestCase;

/**
 * @covers \Cetane\FrontController
 * @covers \Cetane\Superglobals
 * @covers \Cetane\PrintedAnswer
 * @covers \Cetane\SapiHead
 */
final class FrontControllerTest extends WorkerTestCase
{
    public function testRunsTheScriptOncePerRequest(): void
    {
        $this->startFrontController('$n = ($n ?? 0) + 1; echo "$n ", getcwd() === __DIR__ ? "in its directory" : getcwd();');
        $first = $this->supervisor->exchange();
        $second = $this->supervisor->exchange();
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $first->frames);
        self::assertSame('1 in its directory', $first->body);
        self::assertSame($first->body, $second->body, 'no variable is left');
        self::assertSame(['Content-type: text/html; charset=UTF-8'], $second->lines);
        self::assertSame(\strlen($second->body), $second->length);
        $this->assertStopsQuietly();
    }

    public function testVariablesOfTheScriptAreGlobals(): void
    {
        $this->startFrontController('$config = "here"; (function () { global $config; echo $config, isset($GLOBALS["other"]) ? "?" : "!"; })(); $other = 1;');
        self::assertSame('here!', $this->supervisor->exchange()->body);
        self::assertSame('here!', $this->supervisor->exchange()->body);
    }

    public function testFillsTheSuperglobalsAsPhpDoes(): void
    {
        $this->startFrontController('echo json_encode([$_GET, $_POST, $_COOKIE, $_FILES, $_REQUEST, $_SERVER, array_diff(array_keys($GLOBALS), ["_ENV"])]);');
        $post = $this->supervisor->exchange([
            'REQUEST_METHOD' => 'POST', 'QUERY_STRING' => 'a=get&g[x]=1&n[k]=1', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
            'HTTP_COOKIE' => 'a=cookie; c=1', 'PATH_INFO' => '/path', 'HTTP_AUTHORIZATION' => 'Basic ' . \base64_encode('me:se:cret'),
        ], 'a=post&n[l]=2')->json();
        self::assertSame(['a' => 'get', 'g' => ['x' => '1'], 'n' => ['k' => '1']], $post[0]);
        self::assertSame(['a' => 'post', 'n' => ['l' => '2']], $post[1]);
        self::assertSame(['a' => 'cookie', 'c' => '1'], $post[2]);
        self::assertSame(['a' => 'post', 'g' => ['x' => '1'], 'n' => ['k' => '1', 'l' => '2']], $post[4], 'request_order is GP');
        self::assertSame('/index.php/path', $post[5]['PHP_SELF']);
        self::assertSame(['me', 'se:cret'], [$post[5]['PHP_AUTH_USER'], $post[5]['PHP_AUTH_PW']]);
        self::assertSame([1_700_000_000, 1_700_000_000.25], [$post[5]['REQUEST_TIME'], $post[5]['REQUEST_TIME_FLOAT']]);
        self::assertSame('cetane', $post[5]['SERVER_SOFTWARE']);
        self::assertArrayNotHasKey('argv', $post[5]);

        $get = $this->supervisor->exchange()->json();
        self::assertSame([[], [], [], [], []], \array_slice($get, 0, 5), 'nothing is left of the request before');
        self::assertArrayNotHasKey('PHP_AUTH_USER', $get[5]);
        self::assertArrayNotHasKey('HTTP_COOKIE', $get[5]);
        self::assertSame($post[6], $get[6]);
    }

    public function testFormsAreParsedForPostOnly(): void
    {
        $this->startFrontController('echo json_encode([$_POST, file_get_contents("php://input")]);');
        foreach (['POST' => ['a' => '1'], 'PUT' => [], 'DELETE' => []] as $method => $expected) {
            $type = ['REQUEST_METHOD' => $method, 'CONTENT_TYPE' => 'application/x-www-form-urlencoded'];
            self::assertSame([$expected, 'a=1'], $this->supervisor->exchange($type, 'a=1')->json());
        }
    }

    public function testArgvIsMadeOfTheQueryWherePhpIsToldSo(): void
    {
        $this->startFrontController('echo json_encode([$_SERVER["argv"], $_SERVER["argc"]]);', ['-d', 'register_argc_argv=1']);
        self::assertSame([['ab', 'cd'], 2], $this->supervisor->exchange(['QUERY_STRING' => 'ab+cd'])->json());
    }

    public function testInputIsReadAnyNumberOfTimes(): void
    {
        $this->startFrontController(<<<'PHP'
            $first = fopen('php://input', 'r');
            $second = fopen('php://input', 'rb');
            echo json_encode([fread($first, 2), fread($second, 3), stream_get_contents($first), rewind($second), stream_get_contents($second),
                file_get_contents('php://input', false, null, 4), feof($second)]);
            PHP);
        self::assertSame(['he', 'hel', 'llo', true, 'hello', 'o', true], $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'], 'hello')->json());
        self::assertSame(['', '', '', true, '', false, true], $this->supervisor->exchange()->json(), 'no body is left over');
        $file = $this->supervisor->file('body', 'spool');
        self::assertSame(['sp', 'spo', 'ool', true, 'spool', 'l', true], $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'], $file, 1)->json());
    }

    public function testOtherStreamsOfPhpWorkInARequestWithABody(): void
    {
        $this->startFrontController(<<<'PHP'
            $memory = fopen('php://memory', 'w+'); fwrite($memory, 'memory'); rewind($memory);
            $temp = fopen('php://temp/maxmemory:10', 'w+'); fwrite($temp, str_repeat('t', 20)); fseek($temp, 15); ftruncate($temp, 18);
            $output = fopen('php://output', 'w'); fwrite($output, 'out '); fclose($output);
            $read = [fopen('php://stdin', 'r')]; $none = null;
            echo stream_get_contents($memory), ' ', stream_get_contents($temp), ' ', fstat($memory)['size'], ' ',
                file_get_contents('php://filter/read=string.toupper/resource=data:,filtered'), ' ', stream_select($read, $none, $none, 0);
            PHP);
        self::assertSame('out memory ttt 6 FILTERED 1', $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'], 'x')->body);
        self::assertSame('', $this->supervisor->stderr());
    }

    public function testABodyBeyondPostMaxSizeIsNotParsed(): void
    {
        $this->startFrontController('echo json_encode([$_POST, strlen(file_get_contents("php://input"))]);', ['-d', 'post_max_size=10']);
        $type = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded'];
        self::assertSame([['a' => '12345678'], 10], $this->supervisor->exchange($type, 'a=12345678')->json());
        self::assertSame([[], 11], $this->supervisor->exchange($type, 'a=123456789')->json());
        self::assertStringContainsString('POST Content-Length of 11 bytes exceeds the limit of 10 bytes', $this->supervisor->stderr());
    }

    public function testHeadersAndStatusAreThoseOfTheRequest(): void
    {
        $this->startFrontController(<<<'PHP'
            if ($_SERVER['REQUEST_URI'] === '/set') {
                header('HTTP/1.1 418 I am a teapot');
                header('X-One: 1'); header('X-One: 2', false);
                header('Content-Type: text/plain');
                setcookie('name', 'value; x', ['path' => '/']);
            }
            echo json_encode([headers_sent(), http_response_code(), headers_list()]);
            PHP);
        $set = $this->supervisor->exchange(['REQUEST_URI' => '/set']);
        self::assertSame(418, $set->status);
        self::assertSame(['X-One: 1', 'X-One: 2', 'Content-type: text/plain;charset=UTF-8', 'Set-Cookie: name=value%3B%20x; path=/'], $set->lines);
        $plain = $this->supervisor->exchange();
        self::assertSame([200, ['Content-type: text/html; charset=UTF-8'], [false, 200, []]], [$plain->status, $plain->lines, $plain->json()]);
    }

    public function statuses(): iterable
    {
        yield 'a redirect' => ['header("Location: /a");', 302, ''];
        yield 'a redirect with a status' => ['header("Location: /a", true, 303);', 303, ''];
        yield 'a status of CGI' => ['header("Status: 404 Nothing Here");', 404, 'Nothing Here'];
        yield 'a code' => ['http_response_code(204);', 204, ''];
        yield 'a status line' => ['header("HTTP/1.0 503 Later");', 503, ''];
    }

    /** @dataProvider statuses */
    public function testTheStatusMayBeSetBy(string $code, int $status, string $reason): void
    {
        $this->startFrontController("if (\$_GET) { $code }");
        $answer = $this->supervisor->exchange(['QUERY_STRING' => 'a']);
        self::assertSame([$status, $reason, null], [$answer->status, $answer->reason, $answer->header('Status')]);
        self::assertSame(200, $this->supervisor->exchange()->status);
    }

    public function testSessionsAreThoseOfTheClient(): void
    {
        $this->startFrontController(<<<'PHP'
            echo isset($_SESSION) ? 'leak ' : '';
            if ($_GET) { session_start(); $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1; echo $_SESSION['n'], ' ', session_id(); }
            PHP);
        $start = ['QUERY_STRING' => 's'];
        $alice = $this->supervisor->exchange($start);
        self::assertMatchesRegularExpression('/^1 \w+$/D', $alice->body);
        $aliceId = \substr($alice->body, 2);
        self::assertStringStartsWith("PHPSESSID=$aliceId;", (string) $alice->header('Set-Cookie'));

        $bob = $this->supervisor->exchange($start);
        $bobId = \substr($bob->body, 2);
        self::assertSame("1 $bobId", $bob->body);
        self::assertNotSame($aliceId, $bobId);

        $again = $this->supervisor->exchange($start + ['HTTP_COOKIE' => "PHPSESSID=$aliceId"]);
        self::assertSame("2 $aliceId", $again->body);
        self::assertNull($again->header('Set-Cookie'), 'a client is not told what it said');
        self::assertSame('', $this->supervisor->exchange()->body);
        self::assertSame("2 $bobId", $this->supervisor->exchange($start + ['HTTP_COOKIE' => "PHPSESSID=$bobId"])->body);
        self::assertStringStartsWith('1 ', $this->supervisor->exchange($start)->body, 'a third client');
    }

    /** session.auto_start */
    public function testASessionThatStartsByItselfIsTheClientsAndNotThatOfTheProcess(): void
    {
        $this->startFrontController(
            '$_SESSION["n"] = ($_SESSION["n"] ?? 0) + 1; echo $_SESSION["n"], " ", session_id();',
            ['-d', 'session.auto_start=1'],
        );
        $alice = $this->supervisor->exchange();
        $id = \substr($alice->body, 2);
        self::assertSame("1 $id", $alice->body);
        self::assertStringStartsWith("PHPSESSID=$id;", (string) $alice->header('Set-Cookie'));
        $bob = $this->supervisor->exchange();
        self::assertStringStartsWith('1 ', $bob->body);
        self::assertNotSame($alice->body, $bob->body);
        $again = $this->supervisor->exchange(['HTTP_COOKIE' => "PHPSESSID=$id"]);
        self::assertSame("2 $id", $again->body);
        self::assertNull($again->header('Set-Cookie'));
        $files = \glob(\dirname($this->supervisor->file('x', '')) . '/sess_*');
        self::assertCount(2, $files ?: [], 'the process itself leaves none');
        $this->assertStopsQuietly();
    }

    public function testASessionOfAnotherNameIsReadFromItsOwnCookie(): void
    {
        $this->startFrontController(<<<'PHP'
            session_name($_GET["n"]); session_start(); $_SESSION["n"] = ($_SESSION["n"] ?? 0) + 1;
            echo $_SESSION["n"], " ", session_id();
            PHP);
        [, $admin] = \explode(' ', $this->supervisor->exchange(['QUERY_STRING' => 'n=admin'])->body);
        [, $shop] = \explode(' ', $this->supervisor->exchange(['QUERY_STRING' => 'n=shop'])->body);
        $cookies = ['HTTP_COOKIE' => "admin=$admin; shop=$shop"];
        self::assertSame("2 $admin", $this->supervisor->exchange(['QUERY_STRING' => 'n=admin'] + $cookies)->body);
        self::assertSame("2 $shop", $this->supervisor->exchange(['QUERY_STRING' => 'n=shop'] + $cookies)->body);
        self::assertStringStartsWith('1 ', $this->supervisor->exchange(['QUERY_STRING' => 'n=admin', 'HTTP_COOKIE' => "shop=$shop"])->body);
    }

    public function testASessionIsWrittenBeforeTheClientHasItsAnswer(): void
    {
        $this->startFrontController(<<<'PHP'
            session_id("fixed"); session_start(); $_SESSION["done"] = 1; register_shutdown_function(fn () => 0);
            if ($_GET) { exit; }
            PHP);
        foreach (['', 'exit'] as $query) {
            $this->supervisor->exchange(['QUERY_STRING' => $query]);
            self::assertStringContainsString('done', (string) \file_get_contents(\dirname($this->supervisor->file('x', '')) . '/sess_fixed'));
        }
    }

    public function testOutputBuffersEndWhereTheyBegan(): void
    {
        $this->startFrontController(<<<'PHP'
            echo ob_get_level(); ob_start(fn ($s) => "<$s>"); echo "in"; ob_start(); echo "ner";
            if ($_GET) { while (ob_get_level()) { ob_end_clean(); } echo ob_get_level(); }
            PHP);
        self::assertSame('1<inner>', $this->supervisor->exchange()->body);
        self::assertSame('0', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body, 'and nothing may remove the outermost one');
        self::assertSame('1<inner>', $this->supervisor->exchange()->body);
        $this->assertStopsQuietly();
    }

    public function testNothingRemovesTheOutermostBuffer(): void
    {
        $this->startFrontController('while (@ob_end_clean()) { } @ob_end_flush(); @ob_flush(); @ob_clean(); echo "kept";');
        foreach ([1, 2] as $_) {
            $answer = $this->supervisor->exchange();
            self::assertSame(['kept', 4], [$answer->body, $answer->length]);
        }
        $this->assertStopsQuietly();
    }

    public function testAStatusLineIsNotPrintedWhenTheProcessEnds(): void
    {
        $this->startFrontController('header("HTTP/1.1 200 Fine"); header("X-A: b"); header("Content-Type: text/plain");');
        self::assertSame(200, $this->supervisor->exchange()->status);
        $this->assertStopsQuietly();
    }

    public function testABufferThatCannotBeRemovedEndsTheWorker(): void
    {
        $this->startFrontController('ob_start(null, 0, 0); echo "stuck";');
        $answer = $this->supervisor->exchange();
        self::assertTrue($answer->last);
        self::assertStringContainsString('cannot be removed', $this->supervisor->messages());
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testFlushStreams(): void
    {
        $this->startFrontController(<<<'PHP'
            header('Content-Type: text/event-stream');
            echo "data: 1\n\n"; ob_flush(); flush();
            echo json_encode(headers_sent()); ob_flush(); flush();
            while (ob_get_level()) { ob_end_flush(); }
            echo "data: 2\n\n"; flush();
            echo "unflushed";
            PHP);
        $answer = $this->supervisor->exchange();
        self::assertSame(["data: 1\n\n", 'true', "data: 2\n\n", 'unflushed'], $answer->pieces);
        self::assertSame([-1, 'text/event-stream;charset=UTF-8'], [$answer->length, $answer->header('Content-Type')]);
        self::assertSame(['HEAD', 'DATA'], \array_slice($this->supervisor->exchange()->frames, 0, 2), 'and the next one too');
    }

    public function testALargeBodyIsStreamedWithConstantMemory(): void
    {
        $this->startFrontController(<<<'PHP'
            header("Content-Length: 50000000"); for ($i = 0; $i < 500; $i++) { echo str_repeat("x", 100000); }
            PHP, ['-d', 'memory_limit=16M']);
        $answer = $this->supervisor->exchange();
        self::assertSame([50_000_000, 50_000_000], [\strlen($answer->body), $answer->length]);
        self::assertLessThan(8_000_000, $answer->peakBytes);
    }

    public function testAFileOfAnySizeMayBeRead(): void
    {
        $file = $this->supervisor->file('large', \str_repeat('0123456789', 1_000_000));
        $this->startFrontController("while (ob_get_level()) { ob_end_clean(); } readfile('$file');", ['-d', 'memory_limit=16M']);
        self::assertSame(\md5_file($file), \md5($this->supervisor->exchange()->body));
    }

    public function testTheAnswerMayBeFinishedEarly(): void
    {
        $this->startFrontController(<<<'PHP'
            echo "answer"; fastcgi_finish_request(); header("X-Late: 1"); echo "late";
            error_log("still running " . json_encode(fastcgi_finish_request()));
            PHP);
        foreach ([1, 2] as $_) {
            $answer = $this->supervisor->exchange();
            self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
            self::assertSame(['answer', null], [$answer->body, $answer->header('X-Late')]);
        }
        self::assertSame("still running false\nstill running false\n", $this->supervisor->stderr());
        self::assertSame('', $this->supervisor->messages());
    }

    public function testAnUncaughtExceptionFailsItsRequestOnly(): void
    {
        $this->startFrontController('header("X-A: b"); ob_start(); echo $_GET["a"] ?? "whole"; if ($_GET) { throw new DomainException("bad"); }');
        $answer = $this->supervisor->exchange(['QUERY_STRING' => 'a=']);
        self::assertSame([['ERROR', 'DONE'], 1, false], [$answer->frames, $answer->errorKind, $answer->last]);
        self::assertStringContainsString('DomainException: bad', $answer->error);
        $answer = $this->supervisor->exchange(['QUERY_STRING' => 'a=partial']);
        self::assertSame([500, 'partial', 'b', false], [$answer->status, $answer->body, $answer->header('X-A'), $answer->last]);
        self::assertStringContainsString('Uncaught DomainException: bad', $this->supervisor->messages());
        $answer = $this->supervisor->exchange();
        self::assertSame([200, 'whole'], [$answer->status, $answer->body]);
        $this->assertStopsQuietly();
    }

    public function testAnExceptionHandlerOfTheApplicationAnswers(): void
    {
        $this->startFrontController(<<<'PHP'
            set_exception_handler(function (Throwable $e) {
                http_response_code(503);
                echo 'handled ' . $e->getMessage();
                if ($_GET['q'] === '2') { throw new LogicException('twice'); }
            });
            echo 'partly ';
            throw new DomainException('bad');
            PHP);
        $answer = $this->supervisor->exchange(['QUERY_STRING' => 'q=1']);
        self::assertSame([503, 'partly handled bad', false], [$answer->status, $answer->body, $answer->last]);
        self::assertSame('partly handled bad', $this->supervisor->exchange(['QUERY_STRING' => 'q=2'])->body);
        self::assertStringContainsString('LogicException: twice', $this->supervisor->messages());
        self::assertSame(503, $this->supervisor->exchange(['QUERY_STRING' => 'q=1'])->status);
    }

    public function testAnOutputCallbackThatThrowsFailsTheRequest(): void
    {
        $this->startFrontController('ob_start(function ($s) { if ($_GET) { throw new DomainException("bad"); } return "<$s>"; }); echo "in";');
        self::assertStringContainsString('DomainException: bad', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->error);
        self::assertSame('<in>', $this->supervisor->exchange()->body);
    }

    public function testAWorkerWhoseOutermostBufferPhpHasDisabledServesNoFurtherRequest(): void
    {
        $this->startFrontController(
            'ob_start(function ($s) { throw new DomainException("bad"); }); echo "in"; ob_end_flush();',
            ['-d', 'output_buffering=0'],
        );
        $answer = $this->supervisor->exchange();
        self::assertStringContainsString('DomainException: bad', $answer->error);
        self::assertTrue($answer->last);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testAStreamToAClientThatLeftEndsAtItsNextFlush(): void
    {
        $this->startFrontController(<<<'PHP'
            if ($_GET) { ignore_user_abort((bool) $_GET['ignore']); }
            for ($i = 0; $_GET && ($i < 100 || !connection_aborted()); $i++) { echo str_repeat('x', 5000); flush(); }
            echo 'done';
            PHP);
        $this->supervisor->request(['QUERY_STRING' => 'ignore=0'])->cancel();
        self::assertStringEndsNotWith('done', $this->supervisor->answer()->body);
        $this->supervisor->request(['QUERY_STRING' => 'ignore=1'])->cancel();
        self::assertStringEndsWith('done', $this->supervisor->answer()->body);
        self::assertSame('done', $this->supervisor->exchange()->body);
        $this->assertStopsQuietly();
    }

    public function testObjectsOfTheScriptEndWithTheRequest(): void
    {
        $this->startFrontController('$o = new class { function __destruct() { echo "destructed"; } }; echo "script ";');
        self::assertSame('script destructed', $this->supervisor->exchange()->body);
        self::assertSame('script destructed', $this->supervisor->exchange()->body);
    }

    public function testTheTimeLimitCountsRequestsOnly(): void
    {
        $this->startFrontController('echo ini_get("max_execution_time"); if ($_GET) { set_time_limit(99); }', ['-d', 'max_execution_time=7']);
        self::assertSame('7', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body);
        self::assertSame('7', $this->supervisor->exchange()->body);
    }

    public function testHeadMayNameALengthWithoutABody(): void
    {
        $this->startFrontController('header("Content-Length: 1234"); if ($_GET) { echo "body"; }');
        $answer = $this->supervisor->exchange(['REQUEST_METHOD' => 'HEAD']);
        self::assertSame([-1, '1234', ''], [$answer->length, $answer->header('Content-Length'), $answer->body]);
        self::assertSame(4, $this->supervisor->exchange(['QUERY_STRING' => 'a'])->length, 'what was counted is right, not what was said');
    }

    public function testTheFieldsOfTheRequestAreThere(): void
    {
        $this->startFrontController('echo json_encode([getallheaders(), apache_request_headers()]);');
        $fields = ['Content-Type' => 'text/x', 'X-A-B' => 'c'];
        self::assertSame([$fields, $fields], $this->supervisor->exchange(['CONTENT_TYPE' => 'text/x', 'HTTP_X_A_B' => 'c'])->json());
    }

    public function declarations(): iterable
    {
        yield 'a function' => ["function greet() { return 'hi'; }\necho greet();", 'function greet() on line 2'];
        yield 'a function that returns a reference' => ['function & greet() { $a = "hi"; return $a; } echo greet();', 'function greet() on line 2'];
        yield 'a class' => ["class Greeting { const TEXT = 'hi'; }\necho Greeting::TEXT;", 'class Greeting on line 2'];
        yield 'an enum in a namespace' => ["namespace App { enum Greeting { case hi; } echo Greeting::hi->name; }", 'enum Greeting on line 2'];
    }

    /** @dataProvider declarations */
    public function testAScriptThatDeclaresSomethingServesOneRequestAProcess(string $code, string $what): void
    {
        $this->startFrontController($code);
        $answer = $this->supervisor->exchange();
        self::assertSame(['hi', true], [$answer->body, $answer->last]);
        self::assertStringContainsString("index.php declares $what at its top level", $this->supervisor->messages());
        self::assertStringContainsString('require_once', $this->supervisor->messages());
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testAGuardedDeclarationIsFine(): void
    {
        $this->startFrontController(<<<'PHP'
            use function strlen; if (!function_exists("greet")) { function greet() { return "hi";
            } } $f = function () {}; $c = new class {}; echo greet(), $c::class ? "" : "", stdClass::class ? "" : "";
            PHP);
        foreach ([1, 2] as $_) {
            $answer = $this->supervisor->exchange();
            self::assertSame(['hi', false], [$answer->body, $answer->last]);
        }
    }

    /** nginx passes an interim answer on, and its client waits for the final one for ever. */
    public function testAStatusThatEndsNoAnswerFailsItsRequestOnly(): void
    {
        $this->startFrontController('http_response_code((int) ($_GET["status"] ?? 200)); echo "hi";');
        foreach ([99, 100, 101, 103, 199] as $status) {
            $answer = $this->supervisor->exchange(['QUERY_STRING' => "status=$status"]);
            self::assertSame([['ERROR', 'DONE'], 1, false], [$answer->frames, $answer->errorKind, $answer->last]);
            self::assertStringContainsString("The status $status does not end an answer", $answer->error);
        }
        self::assertSame('hi', $this->supervisor->exchange()->body);
    }

    public function testSettingsOfSessionsEndWithARequestThatHasNone(): void
    {
        $once = $this->supervisor->file('once.php', '<?php ini_set("session.gc_divisor", "7");');
        $this->startFrontController(<<<PHP
            if (isset(\$_GET['change'])) { session_save_path('/elsewhere'); session_cache_limiter('public'); ini_set('session.gc_maxlifetime', '5'); }
            if (isset(\$_GET['load'])) { require_once '$once'; }
            foreach (['save_path', 'cache_limiter', 'gc_maxlifetime', 'gc_divisor'] as \$name) { echo ini_get("session.\$name"), ' '; }
            PHP);
        $settings = $this->supervisor->exchange()->body;
        self::assertStringStartsWith('/elsewhere public 5 ', $this->supervisor->exchange(['QUERY_STRING' => 'change'])->body);
        self::assertSame($settings, $this->supervisor->exchange()->body);
        $this->supervisor->exchange(['QUERY_STRING' => 'load']);
        self::assertStringEndsWith(' 7 ', $this->supervisor->exchange()->body);
    }

    public function testWhatMbstringWasToldEndsWithTheRequest(): void
    {
        $this->startFrontController(<<<'PHP'
            if ($_GET) { mb_internal_encoding('SJIS'); mb_substitute_character(65); mb_language('ja'); mb_detect_order('ASCII'); mb_regex_encoding('SJIS'); }
            echo json_encode([mb_internal_encoding(), mb_substitute_character(), mb_language(), mb_detect_order(), mb_regex_encoding()]);
            PHP);
        $told = $this->supervisor->exchange()->body;
        self::assertSame('["SJIS",65,"Japanese",["ASCII"],"SJIS"]', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body);
        self::assertSame($told, $this->supervisor->exchange()->body);
    }

    public function testASettingThatCannotBePutBackEndsTheWorker(): void
    {
        $this->startFrontController('if ($_GET) { ini_set("open_basedir", "/tmp:/usr"); } echo "hi";');
        self::assertSame('hi', $this->supervisor->exchange()->body);
        self::assertSame('hi', $this->supervisor->exchange(['QUERY_STRING' => 'a'])->body);
        $this->assertExitsWith(0);
        self::assertStringContainsString('open_basedir cannot be put back', $this->supervisor->rest());
    }

    public function testHandlersSetOnceStayAndThoseSetInEachRequestDoNotPileUp(): void
    {
        $once = $this->supervisor->file('once.php', '<?php set_error_handler(function ($level, $text) { echo "<$text>"; return true; });');
        $this->startFrontController("require_once '$once'; echo \$undefined;");
        foreach ([1, 2, 3] as $_) {
            self::assertSame('<Undefined variable $undefined>', $this->supervisor->exchange()->body);
        }
        $this->supervisor->close();
        $this->setUp();
        $this->startFrontController(<<<'PHP'
            echo $early;
            set_error_handler(function ($level, $text) { return true; });
            set_exception_handler(function ($e) { });
            echo memory_get_usage();
            PHP);
        for ($i = 0; $i < 100; $i++) {
            $before = (int) $this->supervisor->exchange()->body;
        }
        for ($i = 0; $i < 1000; $i++) {
            $after = (int) $this->supervisor->exchange()->body;
        }
        self::assertLessThan(1024, $after - $before);
    }

    public function testMemoryStaysFlat(): void
    {
        $this->startFrontController(<<<'PHP'
            $a = [new stdClass, $_GET, $_COOKIE, file_get_contents("php://input")]; header("X: " . $_GET["n"]);
            setcookie("n", $_GET["n"]); echo memory_get_usage();
            PHP);
        $request = fn (int $n): int => (int) $this->supervisor
            ->exchange(['QUERY_STRING' => "n=$n", 'HTTP_COOKIE' => "c=$n", 'REQUEST_METHOD' => 'POST'], "body $n")
            ->body;
        for ($i = 0; $i < 500; $i++) {
            $before = $request($i);
        }
        for ($i = 0; $i < 10_000; $i++) {
            $after = $request($i);
        }
        self::assertLessThan(4096, $after - $before);
    }
}
