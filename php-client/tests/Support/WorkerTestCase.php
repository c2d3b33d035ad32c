<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

use PHPUnit\Framework\TestCase;

/** Tests with a real PHP process at the other end of real FIFOs. */
abstract class WorkerTestCase extends TestCase
{
    protected const CLIENT = __DIR__ . '/../..';

    protected ScriptedSupervisor $supervisor;

    protected function setUp(): void
    {
        $this->supervisor = new ScriptedSupervisor();
    }

    protected function tearDown(): void
    {
        $this->supervisor->close();
    }

    /**
     * Starts a worker script as the supervisor does and waits until it is ready.
     *
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    protected function startScript(
        string $code,
        array $options = [],
        string $php = 'php',
        string $capabilities = '',
        array $environment = [],
    ): void {
        $this->bootScript($code, $options, $php, $capabilities, $environment);
        self::assertSame('READY', $this->supervisor->next()->name);
    }

    /**
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    protected function bootScript(
        string $code,
        array $options = [],
        string $php = 'php',
        string $capabilities = '',
        array $environment = [],
    ): void {
        $script = $this->supervisor->file('worker.php', "<?php\nuse Cetane\\{Request, Response, Worker, FileBody};\n$code");
        $this->supervisor
            ->start($script, ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php', ...$options], $php, $environment)
            ->hello(['kind' => 'worker', 'script' => $script, 'capabilities' => $capabilities], ['SERVER_SOFTWARE' => 'cetane']);
    }

    /** Starts a worker whose handler is this expression. */
    protected function startHandler(string $handler): void
    {
        $this->startScript("Worker::run($handler);");
    }

    /**
     * Starts a front controller under php-cgi and waits until it is ready.
     *
     * @param list<string> $options
     */
    protected function startFrontController(string $code, array $options = [], string $capabilities = ''): void
    {
        $script = $this->supervisor->file('index.php', "<?php\n$code");
        $this->supervisor
            ->start(self::CLIENT . '/bin/cetane-worker.php', ['-d', 'session.save_path=' . \dirname($script), ...$options], 'php-cgi')
            ->hello(
                ['kind' => 'front-controller', 'script' => $script, 'capabilities' => $capabilities],
                ['SERVER_SOFTWARE' => 'cetane', 'SCRIPT_FILENAME' => $script],
            );
        self::assertSame('READY', $this->supervisor->next()->name);
    }

    /**
     * Starts a worker script that was written for FrankenPHP, and waits until it is ready.
     *
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    protected function startFrankenPhp(string $code, array $options = [], array $environment = []): void
    {
        $this->bootFrankenPhp($code, $options, $environment);
        self::assertSame('READY', $this->supervisor->next()->name);
    }

    /**
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    protected function bootFrankenPhp(string $code, array $options = [], array $environment = [], string $php = 'php-cgi'): void
    {
        $script = $this->supervisor->file('worker.php', "<?php\n$code");
        $prepend = ['-d', 'auto_prepend_file=' . self::CLIENT . '/autoload.php', '-d', 'session.save_path=' . \dirname($script)];
        $this->supervisor
            ->start($script, [...$prepend, ...$options], $php, $environment + ['FRANKENPHP_WORKER' => '1'])
            ->hello(['kind' => 'frankenphp', 'script' => $script], ['SERVER_SOFTWARE' => 'cetane', 'SCRIPT_FILENAME' => $script]);
    }

    /** Stops the worker and looks whether it left well and said nothing. */
    protected function assertStopsQuietly(): void
    {
        $this->supervisor->stop();
        self::assertSame(0, $this->supervisor->exitCode(), $this->supervisor->stderr());
        self::assertSame('', $this->supervisor->stderr());
        self::assertSame('', \trim($this->supervisor->stdout()));
        self::assertSame('', $this->supervisor->rest());
    }

    protected function assertExitsWith(int $code): void
    {
        self::assertSame($code, $this->supervisor->exitCode(), $this->supervisor->stderr());
    }
}
