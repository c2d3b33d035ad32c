<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\Laravel\Application;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Foundation\Application as LaravelApplication;
use PHPUnit\Framework\TestCase;

/**
 * One booted application a test class, with storage of its own.
 */
abstract class LaravelTestCase extends TestCase
{
    protected static Application $application;

    private static string $storage;

    private string|false $errorLog;

    public static function setUpBeforeClass(): void
    {
        self::$storage = sys_get_temp_dir() . '/cetane-laravel-' . bin2hex(random_bytes(6));
        putenv('DEMO_STORAGE=' . self::$storage);
        Probe::$boot = static::whenBooted(...);
        $level = error_reporting();
        self::$application = Application::boot(__DIR__ . '/application');
        // Laravel's handlers are for a process of its own, PHPUnit needs its.
        restore_error_handler();
        restore_exception_handler();
        error_reporting($level);
    }

    public static function tearDownAfterClass(): void
    {
        (new Filesystem())->deleteDirectory(self::$storage);
        putenv('DEMO_STORAGE');
        foreach (['SERVICES', 'PACKAGES', 'CONFIG', 'ROUTES', 'EVENTS'] as $cache) {
            unset($_ENV["APP_{$cache}_CACHE"]);
        }
    }

    protected function setUp(): void
    {
        touch($file = self::$storage . '/error.log');
        $this->errorLog = ini_set('error_log', $file);
    }

    protected function tearDown(): void
    {
        unlink(self::$storage . '/error.log');
        ini_set('error_log', (string) $this->errorLog);
    }

    /**
     * What the test has brought into PHP's error log.
     */
    protected static function logged(): string
    {
        return (string) file_get_contents(self::$storage . '/error.log');
    }

    /**
     * Runs in the application when it has booted, before the first request.
     */
    protected static function whenBooted(LaravelApplication $app): void
    {
    }

    protected static function visitor(): Visitor
    {
        return new Visitor(self::$application);
    }
}
