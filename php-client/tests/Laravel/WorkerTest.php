<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\Tests\Support\LaravelWorkerTestCase;

/**
 * The demo application in a worker process of its own, as the supervisor sees it.
 */
final class WorkerTest extends LaravelWorkerTestCase
{
    public function testEachVisitorHasASessionAndAUser(): void
    {
        $this->startApplication();
        $ada = $grace = [];
        $this->get('/login?user=1', $ada);
        $this->get('/login?user=2', $grace);
        self::assertSame('Ada', $this->get('/me', $ada)->json()['user']);
        self::assertSame('Grace', $this->get('/me', $grace)->json()['user']);
        self::assertNull($this->get('/me')->json()['user']);
        $page = $this->get('/bench', $ada);
        self::assertStringContainsString('Visit 1,', $page->body);
        self::assertSame(strlen($page->body), $page->length);
        self::assertStringContainsString('Visit 2,', $this->get('/bench', $ada)->body);
        self::assertSame(8, $this->get('/counter')->json()['requests']);
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testAStreamLeavesPieceByPiece(): void
    {
        $this->startApplication();
        $answer = $this->get('/stream?lines=3');
        self::assertSame(["line 1\n", "line 2\n", "line 3\n"], $answer->pieces);
        self::assertSame(-1, $answer->length);
        self::assertSame(["one\n", "two\n", "three\n"], $this->get('/generator')->pieces);
    }

    public function testALargeStreamNeedsNoMemory(): void
    {
        $this->startApplication();
        $before = $this->get('/big?mb=1')->peakBytes;
        $answer = $this->get('/big?mb=64');
        self::assertSame(64 << 20, strlen($answer->body));
        self::assertLessThan($before + (1 << 20), $answer->peakBytes);
    }

    public function testAStreamEndsWhenItsClientHasLeft(): void
    {
        $this->startApplication();
        $this->supervisor->request(self::server('/stream?lines=1000&ms=5'));
        self::assertSame('HEAD', $this->supervisor->next()->name);
        self::assertSame('DATA', $this->supervisor->next()->name);
        $this->supervisor->cancel();
        self::assertLessThan(999, count($this->supervisor->answer()->pieces));
        self::assertSame(200, $this->get('/hello')->status);
        self::assertSame('', $this->supervisor->stderr());
    }

    public function testSuperglobalsAreThoseOfTheRequest(): void
    {
        $this->startApplication();
        $none = ['get' => [], 'post' => [], 'cookie' => [], 'request' => [], 'method' => 'GET', 'input' => ''];
        self::assertSame($none, $this->get('/superglobals')->json());
        $form = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded', 'HTTP_COOKIE' => 'c=3'];
        self::assertSame(
            [
                'get' => ['a' => '1'], 'post' => ['b' => '2'], 'cookie' => ['c' => '3'], 'request' => ['a' => '1', 'b' => '2'],
                'method' => 'POST', 'input' => 'b=2',
            ],
            $this->supervisor->exchange($form + ['CONTENT_LENGTH' => '3'] + self::server('/superglobals?a=1'), 'b=2')->json()
        );
        self::assertSame($none, $this->get('/superglobals')->json());
    }

    public function testAFileIsNamedAndNotSent(): void
    {
        $this->startApplication();
        $answer = $this->get('/download?kb=3', $none, ['HTTP_RANGE' => 'bytes=10-19']);
        self::assertSame(['HEAD', 'FILE', 'END', 'DONE'], $answer->frames);
        self::assertSame([206, 10, 'bytes 10-19/3072'], [$answer->status, $answer->length, $answer->header('Content-Range')]);
    }

    public function testWhatIsPrintedAfterTheAnswerIsALogLine(): void
    {
        $this->startApplication();
        self::assertSame('the response', $this->get('/echo-outside')->body);
        self::assertSame('Hello, world!', $this->get('/hello')->body);
        self::assertStringContainsString('printed after the response', $this->supervisor->messages());
    }

    public function testDumpsAreHtmlAndTheWorkerLives(): void
    {
        $this->startApplication();
        $dump = $this->get('/dump?a=1');
        self::assertMatchesRegularExpression('/sf-dump.*after the dump$/s', $dump->body);
        $end = $this->get('/dd?a=1');
        self::assertStringContainsString('sf-dump', $end->body);
        self::assertSame([500, false], [$end->status, $end->last]);
        self::assertSame(200, $this->get('/hello')->status);
    }

    public function testAnExceptionIsLaravelsErrorPage(): void
    {
        $this->startApplication();
        $answer = $this->get('/exception');
        self::assertSame([500, false, 0], [$answer->status, $answer->last, $answer->errorKind]);
        self::assertStringContainsString('Server Error', $answer->body);
        self::assertStringNotContainsString('part of the demo', $answer->body);
        self::assertStringContainsString('part of the demo', $this->supervisor->stderr());
        self::assertSame(404, $this->get('/abort/404')->status);
        self::assertSame(200, $this->get('/hello')->status);
    }

    public function testExitAnswersWithWhatWasPrinted(): void
    {
        $this->startApplication();
        $answer = $this->get('/exit?text=goodbye&status=418&code=3');
        self::assertSame(['goodbye', 418, true], [$answer->body, $answer->status, $answer->last]);
        self::assertSame(3, $this->supervisor->exitCode());
    }

    /**
     * @dataProvider fatalErrors
     */
    public function testAFatalErrorFailsTheRequestAndSaysWhy(string $route, string $message): void
    {
        $this->startApplication();
        $answer = $this->get($route);
        self::assertSame([self::FATAL, true], [$answer->errorKind, $answer->last]);
        self::assertStringContainsString($message, $answer->error);
        self::assertSame(255, $this->supervisor->exitCode());
        self::assertStringContainsString("production.ERROR: ", $this->supervisor->stderr());
        self::assertStringNotContainsString('Uncaught', $this->supervisor->stderr());
        self::assertStringNotContainsString('<html', $this->supervisor->stdout());
    }

    /**
     * @return array<array{string, string}>
     */
    public function fatalErrors(): array
    {
        return [['/fatal', 'Class DoesNotCount contains 1 abstract method'], ['/oom', 'Allowed memory size of 67108864 bytes exhausted']];
    }

    public function testADirectoryWithoutAnApplicationIsTold(): void
    {
        mkdir($empty = self::$storage . '/empty');
        $this->bootApplication(directory: $empty);
        self::assertStringContainsString("$empty is no Laravel application that can run: vendor/autoload.php is missing", $this->bootFailure());
    }

    public function testAnApplicationThatCannotBootSaysWhy(): void
    {
        $broken = self::$storage . '/broken';
        mkdir("$broken/bootstrap", 0777, true);
        mkdir("$broken/vendor");
        $demo = var_export(dirname(__DIR__, 3) . '/tests/apps/laravel', true);
        file_put_contents("$broken/vendor/autoload.php", "<?php require $demo . '/vendor/autoload.php';");
        file_put_contents("$broken/bootstrap/app.php", <<<PHP
            <?php
            \$app = require $demo . '/bootstrap/app.php';
            \$app->booting(static fn () => throw new LogicException('a provider does not like it here'));
            return \$app;
            PHP);
        $this->bootApplication(directory: $broken);
        self::assertStringContainsString('a provider does not like it here', $this->bootFailure());
    }

    protected static function application(): string
    {
        return dirname(__DIR__, 3) . '/tests/apps/laravel';
    }
}
