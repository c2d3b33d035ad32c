<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\Laravel\Application;
use Closure;
use Illuminate\Filesystem\Filesystem;
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
        self::$application = self::boot(static function (): void {
        });
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

    protected static function boot(Closure $whenBooted): Application
    {
        Probe::$boot = $whenBooted;
        $level = error_reporting();
        $application = Application::boot(__DIR__ . '/application');
        // Laravel's handlers are for a process of its own, PHPUnit needs its.
        restore_error_handler();
        restore_exception_handler();
        error_reporting($level);

        return $application;
    }

    protected static function visitor(?Application $application = null): Visitor
    {
        return new Visitor($application ?? self::$application);
    }
}
