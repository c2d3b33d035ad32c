<?php

declare(strict_types=1);

namespace Cetane\Tests\Symfony;

use Cetane\Symfony\Runtime;
use Cetane\Tests\Support\Answer;
use Cetane\Tests\Support\WorkerTestCase;
use Symfony\Component\Filesystem\Filesystem;

/**
 * A whole Symfony application, started through symfony/runtime.
 *
 * @covers \Cetane\Symfony\Runtime
 * @covers \Cetane\Symfony\HttpKernelRunner
 * @covers \Cetane\Symfony\RequestFactory
 * @covers \Cetane\Symfony\ResponseFactory
 */
final class HttpKernelTest extends WorkerTestCase
{
    private const FORM = 'application/x-www-form-urlencoded';

    private static string $storage;

    public static function setUpBeforeClass(): void
    {
        self::$storage = \sys_get_temp_dir() . '/cetane-symfony-' . \bin2hex(\random_bytes(6));
        \mkdir(self::$storage);
    }

    public static function tearDownAfterClass(): void
    {
        require_once 'Symfony/Component/Filesystem/autoload.php';
        (new Filesystem())->remove(self::$storage);
    }

    public function testARequestIsBuiltFromWhatTheWorkerGot(): void
    {
        $this->startKernel();
        $got = $this->exchange('/request', [
            'REQUEST_METHOD' => 'POST', 'QUERY_STRING' => 'a[]=1', 'HTTP_COOKIE' => 'c=d', 'CONTENT_TYPE' => self::FORM, 'HTTP_HOST' => 'shop.test:8080',
            'HTTP_AUTHORIZATION' => 'Basic ' . \base64_encode('me:secret'), 'SERVER_PORT' => '8080',
        ], 'x[y]=z')->json();
        self::assertSame([
            'method' => 'POST', 'query' => ['a' => ['1']], 'form' => ['x' => ['y' => 'z']], 'cookies' => ['c' => 'd'], 'content' => 'x[y]=z',
            'uri' => 'http://shop.test:8080/request?a%5B0%5D=1', 'base' => '', 'user' => ['me', 'secret'],
            'env' => 'test', 'mode' => 'web=1&worker=1', 'files' => [],
        ], $got);
        self::assertSame(['GET', [], [], [], ''], \array_slice(\array_values($this->exchange('/request')->json()), 0, 5), 'nothing is left');
    }

    public function testAFormIsReadForTheMethodsThatHttpFoundationReadsItFor(): void
    {
        $this->startKernel();
        foreach (['POST' => ['x' => '1'], 'PUT' => ['x' => '1'], 'PATCH' => ['x' => '1'], 'DELETE' => ['x' => '1'], 'SEARCH' => []] as $method => $form) {
            $got = $this->exchange('/request', ['REQUEST_METHOD' => $method, 'CONTENT_TYPE' => self::FORM], 'x=1')->json();
            self::assertSame([$method, $form, 'x=1'], [$got['method'], $got['form'], $got['content']]);
        }
        self::assertSame([], $this->exchange('/request', ['REQUEST_METHOD' => 'PUT', 'CONTENT_TYPE' => 'text/plain'], 'x=1')->json()['form']);
    }

    public function testALargeBodyIsReadFromItsFile(): void
    {
        $this->startKernel();
        $body = $this->supervisor->file('body', 'spooled');
        $got = $this->exchange('/request', ['REQUEST_METHOD' => 'PUT', 'CONTENT_TYPE' => 'text/plain'], $body, 1)->json();
        self::assertSame('spooled', $got['content']);
    }

    public function testAnUploadIsValidAndCanBeMoved(): void
    {
        $this->startKernel('form file');
        $path = $this->supervisor->file('upload', 'content');
        $fields = 'title=A';
        $files = \implode("\0", ['photo', 'a.txt', 'a.txt', 'text/plain', $path, '0', '7', '']);
        $server = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'multipart/form-data; boundary=x'];
        $got = $this->exchange('/request', $server, \pack('N', \strlen($fields)) . $fields . $files, 2)->json();
        self::assertSame([['title' => 'A'], ['photo' => ['a.txt', true, 'content', 'moved']]], [$got['form'], $got['files']]);
        self::assertFileDoesNotExist($path);
    }

    public function testStatusFieldsAndCookiesAreThoseOfTheResponse(): void
    {
        $this->startKernel();
        $answer = $this->exchange('/head');
        self::assertSame([201, 'Made Here', 'made', 4], [$answer->status, $answer->reason, $answer->body, $answer->length]);
        self::assertSame('name=value; path=/; httponly; samesite=lax', $answer->header('Set-Cookie'));
        self::assertCount(2, \preg_grep('/^x-many: [ab]$/i', $answer->lines));
        self::assertSame([302, '/count'], [($redirect = $this->exchange('/redirect'))->status, $redirect->header('Location')]);
        self::assertSame(404, $this->exchange('/missing')->status);
        self::assertSame(404, $this->exchange('/nowhere')->status);
    }

    public function testTheKernelTerminatesAndResetsWhenTheClientHasItsAnswer(): void
    {
        $this->startKernel();
        foreach ([1, 2] as $ignored) {
            self::assertSame('1', $this->exchange('/count')->body);
        }
        $this->supervisor->stop();
        $this->assertExitsWith(0);
        self::assertSame(['terminated /count with 200', 'reset', 'terminated /count with 200', 'reset'], $this->logLines());
    }

    public function testARebootMakesEverythingAnew(): void
    {
        $this->startKernel('', ['APP_KERNEL_REBOOT' => 'always']);
        foreach ([1, 2] as $ignored) {
            self::assertSame('1', $this->exchange('/count')->body);
        }
        $this->supervisor->stop();
        $this->assertExitsWith(0);
        self::assertSame(['terminated /count with 200', 'terminated /count with 200'], $this->logLines(), 'no service is left to be reset');
    }

    public function testSessionsAreThoseOfTheClient(): void
    {
        $this->startKernel();
        $alice = $this->exchange('/session');
        [$count, $aliceId] = \explode(' ', $alice->body);
        self::assertSame('1', $count);
        self::assertStringStartsWith("PHPSESSID=$aliceId;", (string) $alice->header('Set-Cookie'));
        [$count, $bobId] = \explode(' ', $this->exchange('/session')->body);
        self::assertSame('1', $count);
        self::assertNotSame($aliceId, $bobId);
        self::assertSame("2 $aliceId", $this->exchange('/session', ['HTTP_COOKIE' => "PHPSESSID=$aliceId"])->body);
        self::assertSame("2 $bobId", $this->exchange('/session', ['HTTP_COOKIE' => "PHPSESSID=$bobId"])->body);
    }

    public function testASessionThatPhpItselfHasOpenedIsNotTheNextClients(): void
    {
        $this->startKernel();
        self::assertNotSame('', $this->exchange('/open')->body);
        self::assertSame(['', null], $this->exchange('/sessionless')->json());
    }

    public function testAStreamedResponseStreams(): void
    {
        $this->startKernel();
        $answer = $this->exchange('/stream');
        self::assertSame([['one', 'two'], -1, 'END'], [$answer->pieces, $answer->length, $answer->frames[3]]);
    }

    public function testAStreamThatBreaksIsNoWholeAnswerAndTheWorkerLives(): void
    {
        $this->startKernel();
        $answer = $this->exchange('/brokenStream');
        self::assertSame(['HEAD', 'DATA', 'ERROR', 'DONE'], $answer->frames);
        self::assertStringContainsString('broken stream', $answer->error);
        self::assertSame('1', $this->exchange('/count')->body);
    }

    public function testAFileIsSentByTheSupervisorAndByThePhpOfAnOldOne(): void
    {
        $path = $this->supervisor->file('file.txt', '0123456789');
        $this->startKernel('file');
        $query = ['QUERY_STRING' => "path=$path"];
        self::assertSame(['HEAD', 'FILE', 'END', 'DONE'], ($whole = $this->exchange('/file', $query))->frames);
        self::assertSame([200, 10, 'bytes'], [$whole->status, $whole->length, $whole->header('Accept-Ranges')]);

        $part = $this->exchange('/file', $query + ['HTTP_RANGE' => 'bytes=2-4']);
        self::assertSame([206, 3, 'bytes 2-4/10', 'FILE'], [$part->status, $part->length, $part->header('Content-Range'), $part->frames[1]]);
        $beyond = $this->exchange('/file', $query + ['HTTP_RANGE' => 'bytes=20-30']);
        self::assertSame([416, 'bytes */10', ''], [$beyond->status, $beyond->header('Content-Range'), $beyond->body]);
        $head = $this->exchange('/file', $query + ['REQUEST_METHOD' => 'HEAD']);
        self::assertSame([200, '10', ['HEAD', 'END', 'DONE']], [$head->status, $head->header('Content-Length'), $head->frames]);
    }

    public function testAFileIsReadWhereTheSupervisorSendsNone(): void
    {
        $path = $this->supervisor->file('file.txt', '0123456789');
        $this->startKernel();
        self::assertSame('234', $this->exchange('/file', ['QUERY_STRING' => "path=$path", 'HTTP_RANGE' => 'bytes=2-4'])->body);
        self::assertSame('0123456789', $this->exchange('/temporary', ['QUERY_STRING' => "path=$path"])->body);
        self::assertFileDoesNotExist($path);
    }

    public function testAnExitEndsTheWorkerAndNotTheAnswer(): void
    {
        $this->startKernel();
        $answer = $this->exchange('/quit');
        self::assertSame([200, 'bye', true], [$answer->status, $answer->body, $answer->last]);
        $this->assertExitsWith(3);
    }

    public function testABootThatFailsIsToldToTheSupervisor(): void
    {
        $this->bootKernel('', ['APP_BROKEN' => '1', 'APP_ENV' => 'broken', 'APP_STORAGE' => self::$storage . '/broken']);
        $frame = $this->supervisor->next();
        self::assertSame('ERROR', $frame->name);
        self::assertStringContainsString('the boot is broken', $frame->message());
        $this->assertExitsWith(1);
    }

    public function testAWrongOptionIsRefused(): void
    {
        $this->bootKernel('', ['APP_KERNEL_REBOOT' => 'sometimes']);
        $this->supervisor->next();
        self::assertStringContainsString('kernel_reboot is "sometimes", it must be never or always', $this->supervisor->stderr());
    }

    public function testABareHttpKernelNeedsNeitherAContainerNorTheRuntime(): void
    {
        $this->startScript(<<<'PHP'
            require_once 'Symfony/Component/HttpKernel/autoload.php';
            require_once 'Symfony/Component/EventDispatcher/autoload.php';
            $resolver = new class implements Symfony\Component\HttpKernel\Controller\ControllerResolverInterface {
                public function getController(Symfony\Component\HttpFoundation\Request $request): callable
                {
                    return static fn () => new Symfony\Component\HttpFoundation\Response('at ' . $request->getPathInfo());
                }
            };
            $kernel = new Symfony\Component\HttpKernel\HttpKernel(new Symfony\Component\EventDispatcher\EventDispatcher(), $resolver);
            exit((new Cetane\Symfony\HttpKernelRunner($kernel))->run());
            PHP);
        self::assertSame(['at /a', 'at /b'], [$this->exchange('/a')->body, $this->exchange('/b')->body]);
        $this->assertStopsQuietly();
    }

    public function testTheReverseProxyOfHttpKernelIsBootedAndResetThroughItsKernel(): void
    {
        $this->startScript(<<<'PHP'
            $_SERVER['APP_STORAGE'] = getenv('APP_STORAGE');
            require_once 'Symfony/Bundle/FrameworkBundle/autoload.php';
            $directory = getenv('APP_DIRECTORY');
            foreach (['Kernel', 'Controller', 'Counter', 'Terminated'] as $class) {
                require "$directory/$class.php";
            }
            $store = new Symfony\Component\HttpKernel\HttpCache\Store(getenv('APP_STORAGE') . '/http');
            $kernel = new Symfony\Component\HttpKernel\HttpCache\HttpCache(new Cetane\Tests\Symfony\Application\Kernel('test', false), $store);
            (new Cetane\Symfony\HttpKernelRunner($kernel))->run();
            PHP, [], 'php', '', ['APP_STORAGE' => self::$storage, 'APP_DIRECTORY' => __DIR__ . '/application']);
        foreach ([1, 2] as $ignored) {
            self::assertSame('1', $this->exchange('/count')->body);
        }
        $this->supervisor->stop();
        $this->assertExitsWith(0);
        self::assertContains('reset', $this->supervisor->errorLines());
    }

    public function testTheEntryPointsForFrankenPhpWorkToo(): void
    {
        $script = __DIR__ . '/application/frankenphp.php';
        $this->supervisor
            ->start($script, ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php'], 'php-cgi', [
                'FRANKENPHP_WORKER' => '1', 'FRANKENPHP_LOOP_MAX' => '5', 'APP_ENV' => 'test', 'APP_DEBUG' => '0', 'APP_STORAGE' => self::$storage,
            ])
            ->hello(['kind' => 'frankenphp', 'script' => $script], ['DOCUMENT_ROOT' => '/srv/public', 'SCRIPT_FILENAME' => $script]);
        self::assertSame('READY', $this->supervisor->next()->name, $this->supervisor->stderr());

        $put = $this->exchange('/request', ['REQUEST_METHOD' => 'PUT', 'CONTENT_TYPE' => self::FORM, 'HTTP_COOKIE' => 'c=d'], 'x=1')->json();
        self::assertSame(['PUT', ['x' => '1'], ['c' => 'd'], 'x=1', 'test'], [
            $put['method'], $put['form'], $put['cookies'], $put['content'], $put['env'],
        ]);
        $head = $this->exchange('/head');
        self::assertSame([201, 'made', 'name=value; path=/; httponly; samesite=lax'], [$head->status, $head->body, $head->header('Set-Cookie')]);
        [$count, $id] = \explode(' ', $this->exchange('/session')->body);
        self::assertSame("2 $id", $this->exchange('/session', ['HTTP_COOKIE' => "PHPSESSID=$id"])->body);
        $stream = $this->exchange('/stream');
        self::assertSame(['1', 'onetwo', true], [$count, $stream->body, $stream->last]);
        $this->assertExitsWith(0);
        self::assertContains('terminated /stream with 200', $this->supervisor->errorLines());
    }

    /**
     * What the application has logged, but for the deprecations that Symfony names when it compiles its container: whichever test is first sees those.
     *
     * @return list<string>
     */
    private function logLines(): array
    {
        return \array_values(\preg_grep('/User Deprecated/', $this->supervisor->errorLines(), \PREG_GREP_INVERT));
    }

    /** @param array<string, string> $environment */
    private function startKernel(string $capabilities = '', array $environment = []): void
    {
        $this->bootKernel($capabilities, $environment);
        self::assertSame('READY', $this->supervisor->next()->name, $this->supervisor->stderr());
    }

    /** @param array<string, string> $environment */
    private function bootKernel(string $capabilities, array $environment): void
    {
        $script = __DIR__ . '/application/worker.php';
        $this->supervisor
            ->start($script, ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php'], 'php', $environment + [
                'APP_RUNTIME' => Runtime::class, 'APP_ENV' => 'test', 'APP_DEBUG' => '0', 'APP_STORAGE' => self::$storage,
            ])
            ->hello(['kind' => 'worker', 'script' => $script, 'capabilities' => $capabilities], ['DOCUMENT_ROOT' => '/srv/public']);
    }

    private function exchange(string $path, array $server = [], string $body = '', int $flags = 0): Answer
    {
        $query = $server['QUERY_STRING'] ?? '';

        return $this->supervisor->exchange($server + [
            'REQUEST_URI' => $path . ($query === '' ? '' : "?$query"), 'HTTP_HOST' => 'shop.test', 'SERVER_PORT' => '80',
        ], $body, $flags);
    }
}
