<?php

declare(strict_types=1);

namespace Cetane\Tests\Octane;

use Cetane\Tests\Support\LaravelWorkerTestCase;

/**
 * The demo application under Octane's worker: what a request may change and the next one must not see, whoever resets it, and how a request begins and
 * ends. With OCTANE_SOURCE (the src directory of laravel/octane) these run on the real one, with LARAVEL_SOURCE (a directory with Illuminate/autoload.php) on
 * another Laravel.
 */
final class OctaneWorkerTest extends LaravelWorkerTestCase
{
    // ---- boot and end ----

    public function testTheWorkerIsReadyOnceTheApplicationIsBootedInOctanesEnvironment(): void
    {
        $this->startApplication();
        $seen = $this->get('/environment')->json();
        self::assertSame(['1', false], [$seen['octane'], $seen['console']]);
        self::assertSame(realpath(self::application()), realpath($seen['base']));
    }

    public function testAnApplicationThatCannotBootSaysWhyOnce(): void
    {
        $this->bootApplication(['HARNESS_BROKEN' => '1']);
        self::assertStringContainsString('a provider does not like it here', $this->bootFailure());
        self::assertStringNotContainsString('does not like it', $this->supervisor->stdout() . $this->supervisor->stderr());
    }

    public function testWithoutOctanesProviderNothingIsServed(): void
    {
        $this->bootApplication(['HARNESS_WITHOUT_PACKAGES' => '1']);
        self::assertStringContainsString('OctaneServiceProvider is not registered', $this->bootFailure());
    }

    public function testStopEndsTheApplicationWell(): void
    {
        $this->startApplication();
        $this->get('/hello');
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode());
        self::assertSame('', $this->supervisor->rest());
    }

    // ---- nothing of a request is seen by the next ----

    public function testVisitorsAreNeverMixedUp(): void
    {
        $this->startApplication();
        $ada = $grace = $nobody = [];
        $this->get('/login?user=1', $ada);
        $this->get('/login?user=2', $grace);
        for ($turn = 0; $turn < 5; $turn++) {
            self::assertSame(['user' => 'Ada', 'query' => ['turn' => "$turn"]], $this->get("/me?turn=$turn", $ada)->json());
            self::assertNull($this->get('/me', $nobody)->json()['user']);
            $nobody = [];
            self::assertSame(['user' => 'Grace', 'query' => []], $this->get('/me', $grace)->json());
        }
        $this->get('/logout', $ada);
        self::assertNull($this->get('/me', $ada)->json()['user']);
        self::assertSame('Grace', $this->get('/me', $grace)->json()['user']);
    }

    public function testASessionIsItsVisitorsOwn(): void
    {
        $this->startApplication();
        $one = $two = [];
        $this->get('/bench', $one);
        $this->get('/bench', $one);
        self::assertStringContainsString('Visit 1,', $this->get('/bench', $two)->body);
        self::assertStringContainsString('Visit 3,', $this->get('/bench', $one)->body);
    }

    public function testConfigurationAndLocaleLastForOneRequest(): void
    {
        $this->startApplication();
        $before = $this->get('/locale')->json();
        $during = $this->get('/locale?set=de')->json();
        self::assertSame(['de', 'Guten Tag', 'Cetane in de', 'Europe/Berlin'], [$during['locale'], $during['greeting'], $during['name'], $during['timezone']]);
        self::assertSame($before, $this->get('/locale')->json());
    }

    public function testEverythingInARequestSeesThatRequest(): void
    {
        $this->startApplication();
        foreach (['me', 'you', 'me'] as $who) {
            $seen = $this->get("/leak?who=$who")->json();
            self::assertSame(
                [['who' => $who], ['who' => $who], ['who' => $who], "http://demo.test/leak?who=$who"],
                [$seen['given'], $seen['held'], $seen['helper'], $seen['url']]
            );
        }
    }

    public function testQueuedCookiesAreThoseOfTheRequest(): void
    {
        $this->startApplication();
        self::assertGreaterThanOrEqual(5, count(preg_grep('/^set-cookie:/i', $this->get('/cookies')->lines)));
        self::assertSame([], preg_grep('/queued|direct/i', $this->get('/bench')->lines));
    }

    public function testUrlsFollowTheRequest(): void
    {
        $this->startApplication();
        self::assertSame('http://demo.test/deep', $this->get('/address')->json()['url']);
        self::assertSame('http://other.test/deep', $this->get('/address', server: ['HTTP_HOST' => 'other.test'])->json()['url']);
        self::assertSame('https://demo.test/deep', $this->get('/address', server: ['HTTPS' => 'on'])->json()['url']);
        self::assertSame('http://demo.test:81/deep', $this->get('/address', server: ['HTTP_HOST' => 'demo.test:81'])->json()['url']);
    }

    public function testBindingsAndScopedInstancesOfARequestAreGone(): void
    {
        $this->startApplication();
        $clean = ['bound' => false, 'scoped' => 1];
        self::assertSame($clean, $this->get('/state')->json());
        $this->get('/state?change=1');
        self::assertSame($clean, $this->get('/state')->json());
    }

    // ---- how a request ends ----

    public function testWhatIsPrintedAfterTheAnswerIsALogLineOfTheRequest(): void
    {
        $this->startApplication();
        self::assertSame('the response', $this->get('/echo-outside')->body);
        self::assertContains([6, 1, 'printed after the response'], $this->supervisor->log);
        self::assertSame('Hello, world!', $this->get('/hello')->body);
    }

    public function testWhatEscapesLaravelIsOctanesErrorAndReplacesTheWorker(): void
    {
        $this->startApplication();
        $answer = $this->get('/escape');
        self::assertSame([500, 'Internal server error.', true], [$answer->status, $answer->body, $answer->last]);
        self::assertStringContainsString('this exception escapes the kernel', $this->supervisor->stderr());
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testWhatAStreamThrowsLeavesTheWorkerAlive(): void
    {
        $this->startApplication();
        $answer = $this->get('/stream/throws');
        self::assertSame(['begun', 1, false], [$answer->body, $answer->errorKind, $answer->last]);
        self::assertSame('Hello, world!', $this->get('/hello')->body);
    }

    public function testDumpsReachTheBrowser(): void
    {
        $this->startApplication();
        self::assertMatchesRegularExpression('/sf-dump.*after the dump$/s', $this->get('/dump?a=1')->body);
        $end = $this->get('/dd?a=1');
        self::assertStringContainsString('sf-dump', $end->body);
        self::assertSame([500, false], [$end->status, $end->last]);
        self::assertStringNotContainsString('ERROR', $this->supervisor->stderr());
    }

    public function testWhatIsSentByHandBeforeExitIsTheAnswer(): void
    {
        $this->startApplication();
        $answer = $this->get('/send-and-exit');
        self::assertSame([200, 'sent by hand, then printed', true], [$answer->status, $answer->body, $answer->last]);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testRequestsLeaveNoMemoryBehind(): void
    {
        $this->startApplication();
        for ($part = 0; $part < 5; $part++) {
            for ($round = 0; $round < 15; $round++) {
                array_map($this->get(...), ['/bench', '/no/such/route', '/stream/untyped', '/exception']);
            }
            $bytes[] = $this->get('/memory')->json()['bytes'];
        }
        // A cache that is filled or a table that doubles shows in one part, a leak in each.
        self::assertLessThan(5_000, min($bytes[2] - $bytes[1], $bytes[3] - $bytes[2], $bytes[4] - $bytes[3]));
    }

    protected static function application(): string
    {
        return dirname(__DIR__, 3) . '/tests/apps/octane';
    }
}
