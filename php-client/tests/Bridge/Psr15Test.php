<?php

declare(strict_types=1);

namespace Cetane\Tests\Bridge;

use Cetane\Tests\Support\WorkerTestCase;

/** @covers \Cetane\Bridge\Psr15 */
final class Psr15Test extends WorkerTestCase
{
    private function serve(string $body, string $capabilities = ''): void
    {
        $interface = __DIR__ . '/psr-http-server-handler.php';
        $this->startScript(<<<PHP
            require 'Nyholm/Psr7/autoload.php';
            require '$interface';
            use Psr\\Http\\Message\\{ServerRequestInterface, ResponseInterface};
            use Nyholm\\Psr7\\Stream;
            final class Handler implements Psr\\Http\\Server\\RequestHandlerInterface
            {
                public function __construct(private \$factory)
                {
                }

                public function handle(ServerRequestInterface \$request): ResponseInterface
                {
                    \$response = \$this->factory->createResponse();
                    $body
                }
            }
            \$factory = new Nyholm\\Psr7\\Factory\\Psr17Factory();
            (new Cetane\\Bridge\\Psr15(new Handler(\$factory), \$factory, \$factory))->run();
            PHP, [], 'php', $capabilities);
    }

    public function testTheRequestIsAPsr7Message(): void
    {
        $this->serve(<<<'PHP'
            $response->getBody()->write(json_encode([$request->getMethod(), (string) $request->getUri(), $request->getProtocolVersion(),
                $request->getHeaders(), $request->getQueryParams(), $request->getCookieParams(), $request->getParsedBody(), (string) $request->getBody(),
                $request->getServerParams()['REMOTE_ADDR']]));
            return $response->withHeader('Content-Type', 'application/json');
            PHP);
        $answer = $this->supervisor->exchange([
            'REQUEST_METHOD' => 'POST', 'REQUEST_URI' => '/a%20b?x=1', 'QUERY_STRING' => 'x=1', 'SERVER_PROTOCOL' => 'HTTP/1.0', 'HTTPS' => 'on',
            'HTTP_HOST' => 'example.org:8443', 'HTTP_COOKIE' => 'c=1', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded', 'REMOTE_ADDR' => '::1',
        ], 'p=1');
        self::assertSame([
            'POST', 'https://example.org:8443/a%20b?x=1', '1.0',
            ['Host' => ['example.org:8443'], 'cookie' => ['c=1'], 'content-type' => ['application/x-www-form-urlencoded']],
            ['x' => '1'], ['c' => '1'], ['p' => '1'], 'p=1', '::1',
        ], \array_replace($answer->json(), [3 => self::withHostFirst($answer->json()[3])]));
        self::assertSame('application/json', $answer->header('Content-Type'));
    }

    public function testOnAwsLambdaARequestHasTheAttributesThatItHasUnderBref(): void
    {
        $this->serve(<<<'PHP'
            $event = $request->getAttribute('lambda-event');
            $context = $request->getAttribute('lambda-context');
            $response->getBody()->write(json_encode($event === null ? $request->getAttributes() : [
                $request->getAttribute('id'), $request->getAttribute('7'), $event->getPathParameters(), $event->getRequestContext()['stage'],
                get_class($context), $context->getAwsRequestId(), $context->deadlineMillis, $context->clientContext, $context->tenantId,
                count($request->getAttributes()),
            ]));
            return $response;
            PHP);
        $lambda = [
            'LAMBDA_INVOCATION_CONTEXT' => '{"awsRequestId":"r-1","deadlineMs":1700000000000,"invokedFunctionArn":"arn:f","traceId":"Root=1",'
                . '"clientContext":"{\"custom\":{\"a\":1}}","tenantId":"blue"}',
            'LAMBDA_REQUEST_CONTEXT' => '{"stage":"prod"}',
        ];
        $parameters = ['LAMBDA_PATH_PARAMETERS' => '{"id":"7%20x","7":"seven","lambda-event":"of a client"}'];
        self::assertSame([
            '7%20x', 'seven', ['id' => '7%20x', 7 => 'seven', 'lambda-event' => 'of a client'], 'prod',
            'Cetane\Lambda\Context', 'r-1', 1700000000000, ['custom' => ['a' => 1]], 'blue', 4,
        ], $this->supervisor->exchange($lambda + $parameters)->json());
        self::assertSame([null, null, [], 'prod'], \array_slice($this->supervisor->exchange($lambda)->json(), 0, 4));
        self::assertSame([], $this->supervisor->exchange($parameters)->json(), 'and none over HTTP');
    }

    public function testUploadedFilesAreATreeOfObjects(): void
    {
        $this->serve(<<<'PHP'
            $describe = function ($file) use (&$describe) {
                return is_array($file) ? array_map($describe, $file) : [$file->getClientFilename(), $file->getClientMediaType(), $file->getSize(),
                    $file->getError(), $file->getError() === 0 ? (string) $file->getStream() : null];
            };
            $response->getBody()->write(json_encode([$request->getParsedBody(), $describe($request->getUploadedFiles()), (string) $request->getBody()]));
            return $response;
            PHP, 'form');
        $path = $this->supervisor->file('upload-1', 'content');
        $files = "f\0a.txt\0d/a.txt\0text/plain\0$path\x000\x007\0g[x][]\0b\0b\0\0$path\x000\x007\0g[x][]\0\0\0\0\x004\x000\0";
        $answer = $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'], \pack('N', 3) . 'a=1' . $files, 2)->json();
        self::assertSame([
            ['a' => '1'],
            [
                'f' => ['a.txt', 'text/plain', 7, 0, 'content'],
                'g' => ['x' => [['b', '', 7, 0, 'content'], ['', '', 0, 4, null]]],
            ],
            '',
        ], $answer);
    }

    public function testTheAnswerIsWhole(): void
    {
        $this->serve('return $this->factory->createResponse(404, "Nothing Here")->withHeader("X-A", ["1", "2"])->withBody(Stream::create("gone"));');
        $answer = $this->supervisor->exchange();
        self::assertSame([404, 'Nothing Here', 'gone', 4], [$answer->status, $answer->reason, $answer->body, $answer->length]);
        self::assertSame(['X-A: 1', 'X-A: 2'], $answer->lines);
        self::assertSame(['HEAD', 'DATA', 'END', 'DONE'], $answer->frames);
    }

    public function testALargeRequestBodyStaysInItsFile(): void
    {
        $this->serve(<<<'PHP'
            $body = $request->getBody();
            $response->getBody()->write(md5_file($body->getMetadata("uri")) . " " . $body->getSize());
            return $response;
            PHP);
        $file = $this->supervisor->file('body', \str_repeat('x', 1_000_000));
        self::assertSame(\md5_file($file) . ' 1000000', $this->supervisor->exchange(['REQUEST_METHOD' => 'PUT'], $file, 1)->body);
    }

    public function testALargeBodyIsSentInPieces(): void
    {
        $file = $this->supervisor->file('large', \random_bytes(1_000_000));
        $this->serve("return \$response->withBody(Stream::create(fopen('$file', 'r')));");
        $answer = $this->supervisor->exchange();
        self::assertSame([1_000_000, \md5_file($file)], [$answer->length, \md5($answer->body)]);
        self::assertCount(16, $answer->pieces);
    }

    public function testABodyThatWasReadIsSentFromItsStartWhereItCanSeek(): void
    {
        $this->serve('$stream = Stream::create("seekable"); $stream->seek(4); return $response->withBody($stream);');
        self::assertSame('seekable', $this->supervisor->exchange()->body);
    }

    public function testABodyThatCannotSeekIsStreamed(): void
    {
        $this->serve('return $response->withBody(Stream::create(popen("printf hello", "r")));');
        $answer = $this->supervisor->exchange();
        self::assertSame(['hello', -1], [$answer->body, $answer->length]);
        self::assertSame('hello', $this->supervisor->exchange()->body);
    }

    public function testAnExceptionOfTheHandlerIsA500(): void
    {
        $this->serve('throw new DomainException("bad");');
        self::assertStringContainsString('DomainException: bad', $this->supervisor->exchange()->error);
        self::assertStringContainsString('DomainException: bad', $this->supervisor->exchange()->error);
    }

    /** @param array<string, list<string>> $headers */
    private static function withHostFirst(array $headers): array
    {
        $host = $headers['host'] ?? $headers['Host'];
        unset($headers['host'], $headers['Host']);

        return ['Host' => $host] + $headers;
    }
}
