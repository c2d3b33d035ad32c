<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\Laravel\RequestFactory;
use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;
use Symfony\Component\HttpFoundation\Request as SymfonyRequest;

/**
 * The application sees the request that php-fpm would have given it.
 */
final class RequestTest extends LaravelTestCase
{
    private const FORM = ['CONTENT_TYPE' => 'application/x-www-form-urlencoded'];

    /**
     * @dataProvider methods
     */
    public function testAFormBodyIsReadForEachMethod(string $method): void
    {
        $body = 'a[b]=1&a[c][]=x&d=%20y';
        $visitor = self::visitor();
        // PHP itself fills $_POST for POST only.
        parse_str($method === 'POST' ? $body : '', $post);
        $answer = json_decode($visitor->send($method, '/form?q=1', self::FORM, $post, [], $body), true);
        self::assertSame($method, $answer['method']);
        self::assertSame(['q' => '1'], $answer['query']);
        self::assertSame(['a' => ['b' => '1', 'c' => ['x']], 'd' => 'y'], $answer['input']);
        self::assertSame(strlen($body), $answer['bytes']);
    }

    /**
     * @return array<array{string}>
     */
    public function methods(): array
    {
        return [['POST'], ['PUT'], ['PATCH'], ['DELETE']];
    }

    public function testAFormMayNameTheMethod(): void
    {
        $visitor = self::visitor();
        $answer = json_decode($visitor->send('POST', '/form', self::FORM, ['_method' => 'PATCH'], [], '_method=PATCH'), true);
        self::assertSame('PATCH', $answer['method']);
    }

    public function testJsonIsInput(): void
    {
        $answer = json_decode(self::visitor()->send('POST', '/form', ['CONTENT_TYPE' => 'application/json'], [], [], '{"k":[1,2]}'), true);
        self::assertSame(['k' => [1, 2]], $answer['input']);
    }

    public function testABodyInAFileIsAStreamThatCanBeReadAgain(): void
    {
        $body = fopen('php://temp', 'w+b');
        fwrite($body, 'a=1&b=2');
        Probe::$action = static fn (Request $request): array => [
            $request->input('b'),
            $request->getContent(),
            $request->getContent(),
            stream_get_contents($request->getContent(true)),
        ];
        $answer = self::visitor()->send('PUT', '/probe', self::FORM, [], [], $body);
        self::assertSame('["2","a=1&b=2","a=1&b=2","a=1&b=2"]', $answer);
    }

    public function testUploadsAreValidAndCanBeMovedHoweverTheyCameIntoTheirFile(): void
    {
        $paths = [];
        foreach (['one', 'two', 'three'] as $content) {
            file_put_contents($paths[] = (string) tempnam(sys_get_temp_dir(), 'cetane-upload'), $content);
        }
        $ok = UPLOAD_ERR_OK;
        $answer = json_decode(self::visitor()->send('POST', '/upload', [], ['t' => '1'], [
            'single' => ['name' => 'a.txt', 'full_path' => 'a.txt', 'type' => 'text/plain', 'tmp_name' => $paths[0], 'error' => $ok, 'size' => 3],
            'many' => [
                'name' => ['x' => ['b.txt'], 'y' => 'c.txt', 'z' => ''],
                'full_path' => ['x' => ['b.txt'], 'y' => 'c.txt', 'z' => ''],
                'type' => ['x' => ['text/html'], 'y' => '', 'z' => ''],
                'tmp_name' => ['x' => [$paths[1]], 'y' => $paths[2], 'z' => ''],
                'error' => ['x' => [$ok], 'y' => $ok, 'z' => UPLOAD_ERR_NO_FILE],
                'size' => ['x' => [3], 'y' => 5, 'z' => 0],
            ],
            'none' => ['name' => '', 'full_path' => '', 'type' => '', 'tmp_name' => '', 'error' => UPLOAD_ERR_NO_FILE, 'size' => 0],
        ]), true);
        $file = static fn (string $name, string $type, string $content): array => [
            'name' => $name, 'type' => $type, 'bytes' => strlen($content), 'valid' => true, 'sha1' => sha1($content), 'moved' => true,
        ];
        self::assertSame([
            'input' => ['t' => '1'],
            'files' => [
                'single' => $file('a.txt', 'text/plain', 'one'),
                'many' => ['x' => [$file('b.txt', 'text/html', 'two')], 'y' => $file('c.txt', 'application/octet-stream', 'three')],
            ],
        ], $answer);
        foreach ($paths as $path) {
            self::assertFileDoesNotExist($path);
        }
    }

    public function testAnUploadThatFailedIsThereAndInvalid(): void
    {
        Probe::$action = static function (Request $request): array {
            $file = $request->file('big');

            return [$file instanceof UploadedFile, $file->isValid(), $file->getError(), $request->hasFile('big')];
        };
        $files = ['big' => ['name' => 'a', 'type' => '', 'tmp_name' => '', 'error' => UPLOAD_ERR_INI_SIZE, 'size' => 0]];
        self::assertSame('[true,false,1,false]', self::visitor()->send('POST', '/probe', [], [], $files));
    }

    public function testAddressesAndSchemeComeFromTheServerVariables(): void
    {
        Probe::$action = static fn (Request $request): array => [
            $request->ip(), $request->getPort(), $request->isSecure(), $request->fullUrl(), $request->header('X-Probe'), $request->bearerToken(),
        ];
        $answer = self::visitor()->get('/probe?a=1', [
            'HTTP_HOST' => 'demo.test:8443', 'SERVER_PORT' => '8443', 'HTTPS' => 'on', 'REMOTE_ADDR' => '192.0.2.1', 'HTTP_X_PROBE' => 'p',
            'HTTP_AUTHORIZATION' => 'Bearer t', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9',
        ]);
        self::assertSame('["192.0.2.1",8443,true,"https://demo.test:8443/probe?a=1","p","t"]', stripslashes($answer));
    }

    public function testARequestWithoutHostIsServed(): void
    {
        self::assertSame('Hello, world!', self::visitor()->get('/hello', ['HTTP_HOST' => '', 'SERVER_NAME' => '', 'SERVER_ADDR' => '192.0.2.7']));
    }

    /**
     * @dataProvider parts
     *
     * @param array<string, mixed>  $server
     * @param array<string, string> $post
     */
    public function testARequestIsWhatLaravelItselfMakesOfTheSameParts(array $server, array $post, string $body): void
    {
        $server += ['REQUEST_URI' => '/a?q=1', 'HTTP_HOST' => 'a.test', 'HTTP_X_TWICE' => 'one, two', 'REMOTE_ADDR' => '192.0.2.1'];
        $ours = RequestFactory::create($server, ['q' => '1'], $post, ['c' => 'd'], [], $body);
        $theirs = Request::createFromBase(new SymfonyRequest(['q' => '1'], $post, [], ['c' => 'd'], [], $server, $body));
        foreach (['query', 'request', 'cookies', 'files', 'server', 'headers', 'attributes'] as $part) {
            self::assertSame($theirs->$part->all(), $ours->$part->all(), $part);
        }
        self::assertSame(
            [$theirs->getContent(), $theirs->method(), $theirs->fullUrl(), $theirs->all(), $theirs->post(), $theirs->getLocale()],
            [$ours->getContent(), $ours->method(), $ours->fullUrl(), $ours->all(), $ours->post(), $ours->getLocale()]
        );
    }

    /**
     * @return array<array{array<string, mixed>, array<string, string>, string}>
     */
    public function parts(): array
    {
        $json = ['CONTENT_TYPE' => 'application/vnd.api+json'];

        return [
            [['REQUEST_METHOD' => 'GET'], [], ''],
            [['REQUEST_METHOD' => 'HEAD'], [], ''],
            [['REQUEST_METHOD' => 'GET'] + $json, [], '{"k":1}'],
            [['REQUEST_METHOD' => 'POST'] + self::FORM, ['p' => 'v', '_method' => 'GET'], 'p=v&_method=GET'],
            [['REQUEST_METHOD' => 'POST'] + $json, [], '{"k":1}'],
            [['REQUEST_METHOD' => 'DELETE', 'CONTENT_TYPE' => 'text/plain'], [], 'text'],
        ];
    }
}
