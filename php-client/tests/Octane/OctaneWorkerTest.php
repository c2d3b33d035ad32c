<?php

declare(strict_types=1);

namespace Cetane\Tests\Octane;

use Cetane\Tests\Support\Answer;
use Cetane\Tests\Support\ScriptedSupervisor;
use PHPUnit\Framework\TestCase;

/**
 * The demo application under Octane's worker: what a request may change and the next one must not see, whoever resets it, and how a request begins and
 * ends. With OCTANE_SOURCE (the src directory of laravel/octane) these run on the real one, with LARAVEL_SOURCE (a directory with Illuminate/autoload.php) on
 * another Laravel.
 */
final class OctaneWorkerTest extends TestCase
{
    private const BOOT = 3;

    private static string $storage;

    private ScriptedSupervisor $supervisor;

    public static function setUpBeforeClass(): void
    {
        self::$storage = sys_get_temp_dir() . '/cetane-octane-' . bin2hex(random_bytes(6));
        mkdir(self::$storage);
    }

    public static function tearDownAfterClass(): void
    {
        exec('rm -rf ' . escapeshellarg(self::$storage));
    }

    protected function setUp(): void
    {
        $this->supervisor = new ScriptedSupervisor();
    }

    protected function tearDown(): void
    {
        $this->supervisor->close();
    }

    // ---- boot and end ----

    public function testTheWorkerIsReadyOnceTheApplicationIsBootedInOctanesEnvironment(): void
    {
        $this->start();
        $seen = $this->get('/environment')->json();
        self::assertSame(['1', false], [$seen['octane'], $seen['console']]);
        self::assertSame(realpath(self::application()), realpath($seen['base']));
    }

    public function testAnApplicationThatCannotBootSaysWhyOnce(): void
    {
        $this->boot(['HARNESS_BROKEN' => '1']);
        $frame = $this->supervisor->next();
        self::assertSame(['ERROR', self::BOOT], [$frame->name, ord($frame->payload[0])]);
        self::assertStringContainsString('a provider does not like it here', $frame->message());
        self::assertSame(1, $this->supervisor->exitCode());
        self::assertStringNotContainsString('does not like it', $this->supervisor->stdout() . $this->supervisor->stderr());
    }

    public function testWithoutOctanesProviderNothingIsServed(): void
    {
        $this->boot(['HARNESS_WITHOUT_PACKAGES' => '1']);
        $frame = $this->supervisor->next();
        self::assertSame(['ERROR', self::BOOT], [$frame->name, ord($frame->payload[0])]);
        self::assertStringContainsString('OctaneServiceProvider is not registered', $frame->message());
    }

    public function testStopEndsTheApplicationWell(): void
    {
        $this->start();
        $this->get('/hello');
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode());
        self::assertSame('', $this->supervisor->rest());
    }

    // ---- nothing of a request is seen by the next ----

    public function testVisitorsAreNeverMixedUp(): void
    {
        $this->start();
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
        $this->start();
        $one = $two = [];
        $this->get('/bench', $one);
        $this->get('/bench', $one);
        self::assertStringContainsString('Visit 1,', $this->get('/bench', $two)->body);
        self::assertStringContainsString('Visit 3,', $this->get('/bench', $one)->body);
    }

    public function testConfigurationAndLocaleLastForOneRequest(): void
    {
        $this->start();
        $before = $this->get('/locale')->json();
        $during = $this->get('/locale?set=de')->json();
        self::assertSame(['de', 'Guten Tag', 'Cetane in de', 'Europe/Berlin'], [$during['locale'], $during['greeting'], $during['name'], $during['timezone']]);
        self::assertSame($before, $this->get('/locale')->json());
    }

    public function testEverythingInARequestSeesThatRequest(): void
    {
        $this->start();
        foreach (['me', 'you', 'me'] as $who) {
            $seen = $this->get("/leak?who=$who")->json();
            self::assertSame(
                [['who' => $who], ['who' => $who], ['who' => $who], "http://octane.test/leak?who=$who"],
                [$seen['given'], $seen['held'], $seen['helper'], $seen['url']]
            );
        }
    }

    public function testQueuedCookiesAreThoseOfTheRequest(): void
    {
        $this->start();
        self::assertGreaterThanOrEqual(5, count(preg_grep('/^set-cookie:/i', $this->get('/cookies')->lines)));
        self::assertSame([], preg_grep('/queued|direct/i', $this->get('/bench')->lines));
    }

    public function testUrlsFollowTheRequest(): void
    {
        $this->start();
        self::assertSame('http://octane.test/deep', $this->get('/address')->json()['url']);
        self::assertSame('http://other.test/deep', $this->get('/address', server: ['HTTP_HOST' => 'other.test'])->json()['url']);
        self::assertSame('https://octane.test/deep', $this->get('/address', server: ['HTTPS' => 'on'])->json()['url']);
        self::assertSame('http://octane.test:81/deep', $this->get('/address', server: ['HTTP_HOST' => 'octane.test:81'])->json()['url']);
    }

    public function testBindingsAndScopedInstancesOfARequestAreGone(): void
    {
        $this->start();
        $clean = ['bound' => false, 'scoped' => 1];
        self::assertSame($clean, $this->get('/state')->json());
        $this->get('/state?change=1');
        self::assertSame($clean, $this->get('/state')->json());
    }

    // ---- how a request ends ----

    public function testTheClientHasItsAnswerBeforeMiddlewareTerminates(): void
    {
        $this->start();
        $this->supervisor->request(self::server('/terminate?ms=100'));
        foreach (['HEAD', 'DATA', 'END'] as $frame) {
            self::assertSame($frame, $this->supervisor->next()->name);
        }
        self::assertStringNotContainsString('terminated', $this->supervisor->stderr());
        self::assertSame('DONE', $this->supervisor->next()->name);
        self::assertStringContainsString('terminated terminate', $this->supervisor->stderr());
    }

    public function testWhatIsPrintedAfterTheAnswerIsALogLineOfTheRequest(): void
    {
        $this->start();
        self::assertSame('the response', $this->get('/echo-outside')->body);
        self::assertContains([6, 1, 'printed after the response'], $this->supervisor->log);
        self::assertSame('Hello, world!', $this->get('/hello')->body);
    }

    public function testWhatEscapesLaravelIsOctanesErrorAndReplacesTheWorker(): void
    {
        $this->start();
        $answer = $this->get('/escape');
        self::assertSame([500, 'Internal server error.', true], [$answer->status, $answer->body, $answer->last]);
        self::assertStringContainsString('this exception escapes the kernel', $this->supervisor->stderr());
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testWhatAStreamThrowsLeavesTheWorkerAlive(): void
    {
        $this->start();
        $answer = $this->get('/stream/throws');
        self::assertSame(['begun', 1, false], [$answer->body, $answer->errorKind, $answer->last]);
        self::assertSame('Hello, world!', $this->get('/hello')->body);
    }

    public function testDumpsReachTheBrowser(): void
    {
        $this->start();
        self::assertMatchesRegularExpression('/sf-dump.*after the dump$/s', $this->get('/dump?a=1')->body);
        $end = $this->get('/dd?a=1');
        self::assertStringContainsString('sf-dump', $end->body);
        self::assertSame([500, false], [$end->status, $end->last]);
        self::assertStringNotContainsString('ERROR', $this->supervisor->stderr());
    }

    public function testWhatIsSentByHandBeforeExitIsTheAnswer(): void
    {
        $this->start();
        $answer = $this->get('/send-and-exit');
        self::assertSame([200, 'sent by hand, then printed', true], [$answer->status, $answer->body, $answer->last]);
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testRequestsLeaveNoMemoryBehind(): void
    {
        $this->start();
        for ($part = 0; $part < 5; $part++) {
            for ($round = 0; $round < 15; $round++) {
                array_map($this->get(...), ['/bench', '/no/such/route', '/stream/untyped', '/exception']);
            }
            $bytes[] = $this->get('/memory')->json()['bytes'];
        }
        // A cache that is filled or a table that doubles shows in one part, a leak in each.
        self::assertLessThan(5_000, min($bytes[2] - $bytes[1], $bytes[3] - $bytes[2], $bytes[4] - $bytes[3]));
    }

    private function start(): void
    {
        $this->boot();
        self::assertSame('READY', ($frame = $this->supervisor->next())->name, $frame->payload);
    }

    /**
     * @param array<string, string> $environment
     */
    private function boot(array $environment = []): void
    {
        $environment += ['CETANE_APP' => self::application(), 'DEMO_STORAGE' => self::$storage];
        $environment += array_intersect_key(getenv(), ['OCTANE_SOURCE' => true, 'LARAVEL_SOURCE' => true]);
        $this->supervisor
            ->start(
                dirname(__DIR__, 2) . '/bin/cetane-worker.php',
                [],
                'php',
                $environment,
            )
            ->hello(['kind' => 'laravel', 'script' => self::application(), 'capabilities' => 'file', 'debug' => '0']);
    }

    private static function application(): string
    {
        return dirname(__DIR__, 3) . '/tests/apps/octane';
    }

    /**
     * @param array<string, string>|null $cookies of the visitor, taken from here and put back
     * @param array<string, string>      $server
     */
    private function get(string $uri, ?array &$cookies = null, array $server = []): Answer
    {
        if ($cookies) {
            $server['HTTP_COOKIE'] = http_build_query($cookies, '', '; ', PHP_QUERY_RFC3986);
        }
        $answer = $this->supervisor->exchange($server + self::server($uri));
        foreach (preg_grep('/^set-cookie:/i', $answer->lines) as $line) {
            [$name, $value] = explode('=', trim(substr(strstr($line, ';', true), 11)), 2);
            $cookies[$name] = rawurldecode($value);
        }

        return $answer;
    }

    /**
     * @return array<string, string>
     */
    private static function server(string $uri): array
    {
        return ['REQUEST_URI' => $uri, 'QUERY_STRING' => (string) parse_url($uri, PHP_URL_QUERY), 'HTTP_HOST' => 'octane.test', 'REMOTE_ADDR' => '127.0.0.1'];
    }
}
