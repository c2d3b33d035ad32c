<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\FileBody;
use Generator;
use Illuminate\Http\Response;
use RuntimeException;
use Symfony\Component\HttpFoundation\StreamedResponse;

/**
 * What an application can answer with.
 */
final class ResponseTest extends LaravelTestCase
{
    public function testWhatIsPrintedComesBeforeWhatIsReturned(): void
    {
        $visitor = self::visitor();
        self::assertSame('printed by the controller, returned by the controller', $visitor->get('/echo'));
        self::assertSame('returned', $visitor->run(static function (): string {
            ob_start();
            echo 'print';
            ob_end_clean();

            return 'returned';
        }));
        self::assertSame('in buffers left open, returned', $visitor->run(static function (): string {
            ob_start();
            echo 'in buffers ';
            ob_start();
            echo 'left open, ';

            return 'returned';
        }));
    }

    public function testALengthThatNoLongerHoldsIsDropped(): void
    {
        $visitor = self::visitor();
        $visitor->run(static function (): Response {
            echo 'printed';

            return response('x', 200, ['Content-Length' => '1']);
        });
        self::assertArrayNotHasKey('Content-Length', $visitor->sent->headers);
    }

    public function testADumpIsHtmlBeforeTheAnswer(): void
    {
        $visitor = self::visitor();
        self::assertMatchesRegularExpression('/sf-dump.*after the dump$/s', $visitor->get('/dump?a=1'));
        self::assertSame(200, $visitor->response->getStatusCode());
    }

    public function testDumpAndDieEndsTheRequestOnly(): void
    {
        $visitor = self::visitor();
        self::assertStringContainsString('sf-dump', $visitor->get('/dd?a=1'));
        self::assertSame(500, $visitor->response->getStatusCode());
        self::assertSame('a stream, ', substr($visitor->run(static fn (): StreamedResponse => response()->stream(static function (): void {
            echo 'a stream, ';
            dd('cut');
        })), 0, 10));
        self::assertSame('Hello, world!', $visitor->get('/hello'));
        self::assertSame('', self::logged());
    }

    public function testAStreamIsProducedPieceByPiece(): void
    {
        $visitor = self::visitor();
        self::assertSame("line 1\nline 2\n", $visitor->get('/stream?lines=2'));
        self::assertSame("one\ntwo\nthree\n", $visitor->get('/generator'));
        self::assertSame('text/plain; charset=UTF-8', $visitor->sent->headers['Content-Type'][0]);
        self::assertSame('a string', $visitor->run(static fn (): StreamedResponse => response()->stream(static fn (): string => 'a string')));
        self::assertSame('echo and yield', $visitor->run(static fn (): StreamedResponse => response()->stream(static function (): Generator {
            echo 'echo ';
            yield 'and ';
            yield 'yield';
        })));
    }

    public function testAStreamFollowsWhatWasPrinted(): void
    {
        self::assertSame('printed, streamed', self::visitor()->run(static function (): StreamedResponse {
            echo 'printed, ';

            return response()->stream(static function (): void {
                echo 'streamed';
            });
        }));
    }

    public function testAStreamThatFailsIsReportedAndFails(): void
    {
        $visitor = self::visitor();
        try {
            $visitor->run(static fn (): StreamedResponse => response()->stream(static function (): void {
                throw new RuntimeException('the source dried up');
            }));
            self::fail('The failure was swallowed.');
        } catch (RuntimeException $problem) {
            self::assertSame('the source dried up', $problem->getMessage());
        }
        self::assertStringContainsString('reported: the source dried up', self::logged());
        self::assertSame('Hello, world!', $visitor->get('/hello'));
    }

    public function testAFileIsLeftToTheSupervisor(): void
    {
        $visitor = self::visitor();
        $whole = $visitor->get('/download?kb=3');
        self::assertInstanceOf(FileBody::class, $visitor->sent->body);
        self::assertFalse($visitor->sent->body->delete);
        self::assertSame(3072, strlen($whole));
        self::assertEquals(['3072'], $visitor->sent->headers['Content-Length']);
        foreach (['bytes=1000-1099' => [1000, 100], 'bytes=3000-' => [3000, 72], 'bytes=-10' => [3062, 10]] as $range => [$offset, $length]) {
            self::assertSame(substr($whole, $offset, $length), $visitor->get('/download?kb=3', ['HTTP_RANGE' => $range]));
            self::assertSame(206, $visitor->sent->status);
            self::assertSame([sprintf('bytes %d-%d/3072', $offset, $offset + $length - 1)], $visitor->sent->headers['Content-Range']);
        }
        self::assertSame('', $visitor->get('/download?kb=3', ['HTTP_RANGE' => 'bytes=-9999']));
        self::assertSame(416, $visitor->sent->status);
    }

    public function testAFileForOneAnswerIsDeletedWithOrWithoutBody(): void
    {
        $files = static fn (): array => glob(getenv('DEMO_STORAGE') . '/app/once*');
        $visitor = self::visitor();
        $visitor->get('/download?kb=1&delete=1');
        self::assertTrue($visitor->sent->body->delete);
        self::assertSame([], $files());
        self::assertSame('', $visitor->send('HEAD', '/download?kb=1&delete=1'));
        self::assertSame([], $files());
    }

    public function testPrintDoesNotSpoilAFile(): void
    {
        $visitor = self::visitor();
        $visitor->run(static function () {
            echo 'stray';

            return response()->file(__FILE__);
        });
        self::assertStringEqualsFile(__FILE__, $visitor->run(Probe::$action));
        self::assertStringContainsString('stray', self::logged());
    }

    public function testHeadHasTheLengthButNotTheBody(): void
    {
        $visitor = self::visitor();
        Probe::$action = static fn (): Response => response('twelve bytes', 200, ['Content-Length' => '12']);
        self::assertSame('', $visitor->send('HEAD', '/probe'));
        self::assertSame([], $visitor->sent->body);
        self::assertSame(['12'], $visitor->sent->headers['Content-Length']);
        self::assertSame('', $visitor->send('HEAD', '/stream'));
        self::assertSame('', $visitor->send('HEAD', '/generator'));
    }

    public function testEachCookieIsAFieldWithAllItsAttributes(): void
    {
        $visitor = self::visitor();
        $visitor->get('/cookies');
        $cookies = $visitor->sent->headers['Set-Cookie'];
        self::assertCount(6, $cookies);
        $direct = array_values(preg_grep('/^direct=/', $cookies))[0];
        self::assertMatchesRegularExpression('/; expires=[^;]+; Max-Age=1800; path=\/; httponly; samesite=strict$/', $direct);
        self::assertMatchesRegularExpression('/^gone=[^;]*; expires=[^;]+; Max-Age=0/', array_values(preg_grep('/^gone=/', $cookies))[0]);
    }

    /**
     * @dataProvider statuses
     */
    public function testAStatusIsKeptEvenWhereItIsLaravelsOwn(int $status): void
    {
        $visitor = self::visitor();
        $visitor->run(static fn (): Response => response('', $status));
        self::assertSame($status, $visitor->sent->status);
        self::assertSame('', $visitor->sent->reason);
    }

    /**
     * @return array<array{int}>
     */
    public function statuses(): array
    {
        return [[201], [418], [419], [425], [431], [451], [503]];
    }

    public function testAReasonOfTheApplicationsOwnIsKept(): void
    {
        $visitor = self::visitor();
        $visitor->run(static fn (): Response => response('')->setStatusCode(200, 'Fine By Me'));
        self::assertSame('Fine By Me', $visitor->sent->reason);
    }

    public function testHeaderFieldsKeepTheirCaseAndTheirValues(): void
    {
        $visitor = self::visitor();
        $visitor->run(static fn (): Response => response('')->withHeaders(['X-CamelCase' => 'a'])->header('Vary', ['A', 'B']));
        self::assertSame(['a'], $visitor->sent->headers['X-CamelCase']);
        self::assertSame(['A', 'B'], $visitor->sent->headers['Vary']);
    }
}
