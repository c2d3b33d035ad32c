<?php

declare(strict_types=1);

namespace Cetane\Tests\Octane;

use Cetane\Tests\Support\Answer;
use Cetane\Tests\Support\WorkerTestCase;

/** Octane's client in a worker process, as the supervisor sees it: what requests become, and what becomes of responses. */
final class OctaneClientTest extends WorkerTestCase
{
    private const FORM = 2;
    private const URLENCODED = ['CONTENT_TYPE' => 'application/x-www-form-urlencoded'];

    // ---- requests ----

    public function testARequestIsMadeOfTheFrame(): void
    {
        $this->startClient(<<<'PHP'
            fn ($request) => new Illuminate\Http\JsonResponse([
                get_class($request), $request->method(), $request->fullUrl(), $request->query('a'), $request->cookie('c'), $request->header('X-Custom'),
                $request->ip(), $request->server('SERVER_SOFTWARE'), $request->getContent(),
            ])
            PHP);
        $server = ['REQUEST_METHOD' => 'POST', 'HTTP_COOKIE' => 'c=d%20e', 'HTTP_X_CUSTOM' => 'yes', 'REMOTE_ADDR' => '192.0.2.7', 'CONTENT_LENGTH' => '4'];
        self::assertSame(
            ['Illuminate\Http\Request', 'POST', 'http://octane.test/deep/path?a=b', 'b', 'd e', 'yes', '192.0.2.7', 'cetane', 'body'],
            $this->send('/deep/path?a=b', $server, 'body')->json()
        );
    }

    /**
     * @dataProvider methodsWithAForm
     */
    public function testAFormIsReadWithEveryMethod(string $method): void
    {
        $this->startClient('fn ($request) => new Illuminate\Http\JsonResponse([$request->method(), $request->post(), $_POST])');
        $server = self::URLENCODED + ['REQUEST_METHOD' => $method, 'CONTENT_LENGTH' => '9'];
        $form = ['list' => ['a', 'b']];
        // PHP itself fills $_POST for POST alone.
        self::assertSame(
            [$method, $form, $method === 'POST' ? $form : []],
            $this->send('/form', $server, 'list[]=a&list[]=b')->json()
        );
    }

    /**
     * @return list<array{string}>
     */
    public function methodsWithAForm(): array
    {
        return [['POST'], ['PUT'], ['PATCH'], ['DELETE']];
    }

    public function testTheMethodOfAFormMayBeOverridden(): void
    {
        $this->startClient('fn ($request) => new Illuminate\Http\Response($request->method())');
        $server = self::URLENCODED + ['REQUEST_METHOD' => 'POST', 'CONTENT_LENGTH' => '11'];
        self::assertSame('PUT', $this->send('/form', $server, '_method=PUT')->body);
    }

    public function testUploadsAreValidAndCanBeMoved(): void
    {
        $this->startClient(<<<'PHP'
            function ($request) {
                $files = Illuminate\Support\Arr::flatten($request->allFiles());
                $directory = dirname(getenv('CLIENT_RESPONSE'));

                return new Illuminate\Http\JsonResponse(array_map(fn ($file) => [
                    get_class($file), $file->getClientOriginalName(), $file->getClientMimeType(), $file->isValid(),
                    file_get_contents($file->move($directory, $file->getClientOriginalName() . '.moved')->getPathname()),
                ], $files));
            }
            PHP);
        $one = $this->supervisor->file('one.tmp', 'the first');
        $two = $this->supervisor->file('two.tmp', 'the second');
        $list = "document\0one.txt\0one.txt\0text/plain\0$one\x000\x009\0" . "nested[a][]\0two.txt\0two.txt\0text/plain\0$two\x000\x0010\0";
        $body = pack('N', 3) . 'a=1' . $list;
        $server = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'multipart/form-data; boundary=x', 'CONTENT_LENGTH' => '300'];
        $class = 'Illuminate\Http\UploadedFile';
        self::assertSame(
            [[$class, 'one.txt', 'text/plain', true, 'the first'], [$class, 'two.txt', 'text/plain', true, 'the second']],
            $this->send('/upload', $server, $body, self::FORM)->json()
        );
    }

    public function testSuperglobalsAreThoseOfTheRequestAndOfNoOther(): void
    {
        $this->startClient('fn ($request) => new Illuminate\Http\JsonResponse([$_GET, $_POST, $_COOKIE, $_SERVER["REQUEST_URI"]])');
        $server = self::URLENCODED + ['REQUEST_METHOD' => 'POST', 'HTTP_COOKIE' => 'c=3', 'CONTENT_LENGTH' => '3'];
        self::assertSame([['a' => '1'], ['b' => '2'], ['c' => '3'], '/?a=1'], $this->send('/?a=1', $server, 'b=2')->json());
        self::assertSame([[], [], [], '/'], $this->send('/')->json());
    }

    // ---- responses ----

    public function testStatusHeadersAndCookiesLeaveAsTheyWereSet(): void
    {
        $this->startClient(<<<'PHP'
            fn () => (new Illuminate\Http\Response('teapot', 451, ['X-MiXed-CaSe' => 'Kept', 'X-Twice' => ['one', 'two']]))
                ->cookie(new Symfony\Component\HttpFoundation\Cookie('a', 'b c', 0, '/deep', 'example.org', true, true, false, 'none'))
                ->cookie(new Symfony\Component\HttpFoundation\Cookie('d', 'e', time() + 600))
            PHP);
        $answer = $this->send('/');
        self::assertSame([451, 'teapot', 6], [$answer->status, $answer->body, $answer->length]);
        self::assertContains('X-MiXed-CaSe: Kept', $answer->lines);
        self::assertContains('X-Twice: one', $answer->lines);
        self::assertContains('X-Twice: two', $answer->lines);
        $cookies = array_values(preg_grep('/^set-cookie:/i', $answer->lines));
        self::assertCount(2, $cookies);
        self::assertMatchesRegularExpression('/^Set-Cookie: a=b%20c; path=\/deep; domain=example.org; secure; httponly; samesite=none$/', implode(
            '',
            preg_grep('/ a=/', $cookies)
        ));
        self::assertMatchesRegularExpression('/ d=e; expires=.*; Max-Age=600; path=\//', implode('', preg_grep('/ d=/', $cookies)));
    }

    public function testWhatWasPrintedComesBeforeTheContent(): void
    {
        $this->startClient(<<<'PHP'
            fn () => new Laravel\Octane\OctaneResponse(new Illuminate\Http\Response('content', 200, ['Content-Length' => 7]), 'printed, ')
            PHP);
        $answer = $this->send('/');
        self::assertSame(['printed, content', 16, null], [$answer->body, $answer->length, $answer->header('Content-Length')]);
    }

    public function testTheAnswerIsCompleteBeforeRespondReturns(): void
    {
        $this->startClient('fn () => new Illuminate\Http\Response("x")');
        $this->supervisor->request(self::server('/'));
        foreach (['HEAD', 'DATA', 'END'] as $frame) {
            self::assertSame($frame, $this->supervisor->next()->name);
        }
        self::assertSame('DONE', $this->supervisor->next()->name);
        self::assertStringContainsString('responded', $this->supervisor->messages());
    }

    /**
     * @dataProvider streams
     *
     * @param list<string> $pieces
     */
    public function testAStreamLeavesPieceByPiece(string $callback, array $pieces): void
    {
        $this->startClient("fn () => new Symfony\\Component\\HttpFoundation\\StreamedResponse($callback)");
        $answer = $this->send('/');
        self::assertSame([$pieces, -1, 0], [$answer->pieces, $answer->length, $answer->errorKind]);
    }

    /**
     * @return array<string, array{string, list<string>}>
     */
    public function streams(): array
    {
        return [
            'printed' => ['function (): void { echo "a"; flush(); echo "b"; }', ['a', 'b']],
            'flushed as web SAPIs want it' => ['function (): void { echo "a"; ob_flush(); flush(); echo "b"; }', ['a', 'b']],
            'buffers ended' => ['function (): void { while (ob_get_level() > 0) { ob_end_clean(); } echo "a"; flush(); echo "b"; }', ['a', 'b']],
            'printed into a buffer' => ['function (): void { ob_start(); echo "a"; ob_flush(); flush(); echo "b"; }', ['a', 'b']],
            'a generator that is declared' => ['function (): Generator { yield "a"; yield "b"; }', ['a', 'b']],
            'a generator that is not' => ['function () { yield "a"; echo "and "; yield "b"; }', ['a', 'and b']],
            'an iterable' => ['fn () => ["a", "b"]', ['a', 'b']],
            'a string' => ['fn () => "a"', ['a']],
            'nothing' => ['function (): void {}', []],
        ];
    }

    public function testWhatWasPrintedComesBeforeAStream(): void
    {
        $this->startClient(<<<'PHP'
            fn () => new Laravel\Octane\OctaneResponse(new Symfony\Component\HttpFoundation\StreamedResponse(function () { yield 'streamed'; }), 'printed, ')
            PHP);
        self::assertSame('printed, streamed', $this->send('/')->body);
    }

    public function testAStreamNoticesThatItsClientHasLeft(): void
    {
        $this->startClient(<<<'PHP'
            fn () => new Symfony\Component\HttpFoundation\StreamedResponse(function (): void {
                for ($number = 0; !connection_aborted(); $number++) {
                    echo 'x';
                    ignore_user_abort(true);
                    flush();
                    usleep(1000);
                }
                Cetane\Worker::current()->log('info', 'it has left');
            })
            PHP);
        $this->supervisor->request(self::server('/'));
        $this->supervisor->next();
        $this->supervisor->next();
        $this->supervisor->cancel();
        self::assertSame(0, $this->supervisor->answer()->errorKind);
        self::assertStringContainsString('it has left', $this->supervisor->messages());
        self::assertStringContainsString('responded', $this->supervisor->messages());
    }

    public function testAGeneratorEndsWhenItsClientHasLeft(): void
    {
        $this->startClient(<<<'PHP'
            fn () => new Symfony\Component\HttpFoundation\StreamedResponse(function () {
                try {
                    while (true) {
                        yield 'x';
                        usleep(1000);
                    }
                } finally {
                    Cetane\Worker::current()->log('info', 'ended');
                }
            })
            PHP);
        $this->supervisor->request(self::server('/'));
        $this->supervisor->next();
        $this->supervisor->cancel();
        self::assertFalse($this->supervisor->answer()->last);
        self::assertStringContainsString('ended', $this->supervisor->messages());
        self::assertStringNotContainsString('reported', $this->supervisor->messages());
    }

    public function testWhatAStreamThrowsIsReportedAndCutsTheAnswer(): void
    {
        $this->startClient(<<<'PHP'
            fn () => new Symfony\Component\HttpFoundation\StreamedResponse(function (): void {
                echo 'begun';
                flush();
                throw new RuntimeException('broken on the way');
            })
            PHP);
        $answer = $this->send('/');
        self::assertSame(['begun', 1, false], [$answer->body, $answer->errorKind, $answer->last]);
        self::assertStringContainsString('reported: broken on the way', $this->supervisor->messages());
        self::assertStringContainsString('responded', $this->supervisor->messages());
        self::assertSame('begun', $this->send('/')->body);
    }

    public function testTheDumpOfDdEndsAStream(): void
    {
        $this->startClient('fn () => new Symfony\Component\HttpFoundation\StreamedResponse(function () { echo "begun "; dd("dumped"); })');
        $answer = $this->send('/');
        self::assertMatchesRegularExpression('/^begun .*dumped/s', $answer->body);
        self::assertSame(0, $answer->errorKind);
    }

    // ---- files ----

    public function testAFileIsNamedAndNotRead(): void
    {
        $this->startClient('fn ($request) => (new Symfony\Component\HttpFoundation\BinaryFileResponse(__FILE__))->prepare($request)');
        $answer = $this->send('/', ['HTTP_RANGE' => 'bytes=2-4']);
        self::assertSame([206, 3, ['HEAD', 'FILE', 'END', 'DONE']], [$answer->status, $answer->length, $answer->frames]);
        self::assertStringStartsWith('bytes 2-4/', (string) $answer->header('Content-Range'));
    }

    public function testAFileMayBeDeletedByTheSupervisor(): void
    {
        $this->startClient(<<<'PHP'
            function ($request) {
                file_put_contents($path = dirname(__FILE__) . '/once.txt', 'once');

                return (new Symfony\Component\HttpFoundation\BinaryFileResponse($path))->deleteFileAfterSend()->prepare($request);
            }
            PHP);
        $this->supervisor->request(self::server('/'));
        self::assertSame('HEAD', $this->supervisor->next()->name);
        $file = $this->supervisor->next();
        self::assertSame(['FILE', 1, pack('JJ', 0, 4)], [$file->name, $file->flags, substr($file->payload, 0, 16)]);
        self::assertStringEndsWith('/once.txt', $file->payload);
    }

    public function testTheApplicationMayAskForAFileInPlaceOfTheBody(): void
    {
        $this->startClient('fn ($request) => new Illuminate\Http\Response("body", 200, ["X-Sendfile" => $request->query("path"), "X-Kept" => "1"])');
        $answer = $this->send('/?path=' . rawurlencode(__DIR__ . '/contracts/../contracts.php'));
        self::assertSame([200, ['HEAD', 'FILE', 'END', 'DONE']], [$answer->status, $answer->frames]);
        self::assertSame([filesize(__DIR__ . '/contracts.php'), null, '1'], [$answer->length, $answer->header('X-Sendfile'), $answer->header('X-Kept')]);
    }

    /**
     * @dataProvider pathsOutside
     */
    public function testNoOtherFileCanBeAskedFor(string $path): void
    {
        $this->startClient('fn ($request) => new Illuminate\Http\Response("body", 200, ["X-Sendfile" => $request->query("path")])');
        $answer = $this->send('/?path=' . rawurlencode($path));
        self::assertSame([500, 'Internal server error.'], [$answer->status, $answer->body]);
    }

    /**
     * @return list<array{string}>
     */
    public function pathsOutside(): array
    {
        return [['/etc/passwd'], [__DIR__ . '/../bootstrap.php'], [__DIR__ . '/none'], [__DIR__], [__DIR__ . 'x']];
    }

    public function testHeadHasTheLengthAndNoBody(): void
    {
        $this->startClient('fn ($request) => (new Illuminate\Http\Response("content"))->prepare($request)');
        $answer = $this->send('/', ['REQUEST_METHOD' => 'HEAD']);
        self::assertSame(['', 200], [$answer->body, $answer->status]);
    }

    // ---- errors ----

    public function testAnErrorIsOctanesText(): void
    {
        $this->startClient('function () { ob_start(); echo "half a page"; throw new RuntimeException("a secret"); }');
        $answer = $this->send('/');
        self::assertSame([500, 'Internal server error.', 0], [$answer->status, $answer->body, $answer->errorKind]);
        self::assertStringStartsWith('text/plain', (string) $answer->header('Content-Type'));
        self::assertSame('Internal server error.', $this->send('/')->body, 'the worker lives');
    }

    public function testAnErrorIsShownInDebugMode(): void
    {
        $this->startClient('fn () => throw new RuntimeException("no secret")', ['CLIENT_DEBUG' => '1']);
        self::assertStringContainsString('RuntimeException: no secret', $this->send('/')->body);
    }

    public function testAHeaderThatCannotBeSentIsAnError(): void
    {
        $this->startClient('fn () => new Illuminate\Http\Response("x", 200, ["X-Broken" => "a\nb"])');
        self::assertSame([500, 'Internal server error.'], [($answer = $this->send('/'))->status, $answer->body]);
    }

    public function testStopMakesTheRequestTheLastOne(): void
    {
        $this->startClient('function ($request, $client) { $client->stop(); return new Illuminate\Http\Response("last"); }');
        $answer = $this->send('/');
        self::assertSame(['last', true], [$answer->body, $answer->last]);
        $this->assertExitsWith(0);
    }

    /**
     * @param string                $respond closure of the request and the client that gives a response, as PHP
     * @param array<string, string> $environment
     */
    private function startClient(string $respond, array $environment = []): void
    {
        $response = $this->supervisor->file('response.php', "<?php\nreturn $respond;\n");
        $this->supervisor
            ->start(
                __DIR__ . '/client.php',
                ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php'],
                'php',
                $environment + ['CLIENT_RESPONSE' => $response],
            )
            ->hello(['kind' => 'worker', 'script' => 'client.php', 'capabilities' => 'file form'], ['SERVER_SOFTWARE' => 'cetane']);
        self::assertSame('READY', $this->supervisor->next()->name);
    }

    /**
     * @param array<string, string> $server
     */
    private function send(string $uri, array $server = [], string $body = '', int $flags = 0): Answer
    {
        return $this->supervisor->exchange($server + self::server($uri), $body, $flags);
    }

    /**
     * @return array<string, string>
     */
    private static function server(string $uri): array
    {
        return ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => $uri, 'QUERY_STRING' => (string) parse_url($uri, PHP_URL_QUERY), 'HTTP_HOST' => 'octane.test'];
    }
}
