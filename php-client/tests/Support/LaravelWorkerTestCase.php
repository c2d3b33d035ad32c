<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

/** Tests with a Laravel application in a worker process of its own, as the supervisor sees it: what is the same whoever resets it. */
abstract class LaravelWorkerTestCase extends WorkerTestCase
{
    protected const FATAL = 2;
    protected const BOOT = 3;

    protected static string $storage;

    public static function setUpBeforeClass(): void
    {
        self::$storage = sys_get_temp_dir() . '/cetane-laravel-' . bin2hex(random_bytes(6));
        mkdir(self::$storage);
    }

    public static function tearDownAfterClass(): void
    {
        exec('rm -rf ' . escapeshellarg(self::$storage));
    }

    public function testTheClientHasItsAnswerBeforeMiddlewareTerminates(): void
    {
        $this->startApplication();
        $this->supervisor->request(self::server('/terminate?ms=100'));
        foreach (['HEAD', 'DATA', 'END'] as $frame) {
            self::assertSame($frame, $this->supervisor->next()->name);
        }
        self::assertStringNotContainsString('terminated', $this->supervisor->stderr());
        self::assertSame('DONE', $this->supervisor->next()->name);
        self::assertStringContainsString('terminated terminate', $this->supervisor->stderr());
    }

    public function testNothingThatARequestDoesToItsProcessOutlivesIt(): void
    {
        $this->startApplication();
        $before = $this->get('/process')->json();
        $changed = $this->get('/process?change')->json();
        foreach ($before as $what => $value) {
            self::assertNotSame($value, $changed[$what], "$what, which the test must be able to change");
        }
        self::assertSame($before, $this->get('/process')->json());
        self::assertStringContainsString('transaction that was left open on connection', $this->supervisor->stderr());
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode());
    }

    public function testAShutdownFunctionRunsAtTheEndOfItsRequestAndOnce(): void
    {
        $this->startApplication();
        $this->get('/process?change');
        self::assertSame(1, substr_count($this->supervisor->stderr(), "the shutdown function of a request"));
        $this->get('/hello');
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode());
        self::assertSame(1, substr_count($this->supervisor->stderr(), "the shutdown function of a request"));
    }

    public function testTheTimeLimitOfARequestIsNotThatOfTheNext(): void
    {
        $this->startApplication();
        $this->get('/process?change');
        self::assertSame(200, $this->get('/process?burn=1500')->status, 'beyond the limit of one second');
    }

    /** The application's directory. */
    abstract protected static function application(): string;

    /** Starts the application and waits until it is ready. */
    protected function startApplication(): void
    {
        $this->bootApplication();
        self::assertSame('READY', ($frame = $this->supervisor->next())->name, $frame->payload);
    }

    /**
     * @param array<string, string> $environment
     */
    protected function bootApplication(array $environment = [], ?string $directory = null): void
    {
        $directory ??= static::application();
        $environment += ['CETANE_APP' => $directory, 'DEMO_STORAGE' => self::$storage];
        $environment += array_intersect_key(getenv(), ['OCTANE_SOURCE' => true, 'LARAVEL_SOURCE' => true]);
        $this->supervisor
            ->start(self::CLIENT . '/bin/cetane-worker.php', [], 'php', $environment)
            ->hello(['kind' => 'laravel', 'script' => $directory, 'capabilities' => 'file', 'debug' => '0']);
    }

    /** The application did not boot, and this is what it has said. */
    protected function bootFailure(): string
    {
        $frame = $this->supervisor->next();
        self::assertSame(['ERROR', self::BOOT], [$frame->name, ord($frame->payload[0])]);
        self::assertSame(1, $this->supervisor->exitCode());

        return $frame->message();
    }

    /**
     * @param array<string, string>|null $cookies of the visitor, taken from here and put back
     * @param array<string, string>      $server
     */
    protected function get(string $uri, ?array &$cookies = null, array $server = []): Answer
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
    protected static function server(string $uri): array
    {
        return ['REQUEST_URI' => $uri, 'QUERY_STRING' => (string) parse_url($uri, PHP_URL_QUERY), 'HTTP_HOST' => 'demo.test', 'REMOTE_ADDR' => '127.0.0.1'];
    }
}
