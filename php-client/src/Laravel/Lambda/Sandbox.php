<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Foundation\Bootstrap\LoadConfiguration;

/**
 * Makes a Laravel application run in the sandbox of an AWS Lambda function, where all but /tmp is read-only.
 *
 * What is found writable stays where it is, so on a developer's machine nothing moves:
 *
 * - the storage directory: else `/tmp/storage`, with the compiled views that were deployed; configured paths below the one that was deployed follow it
 * - the manifests of packages and services, the caches of routes and events: else below `/tmp/storage` where they are missing
 * - the cache of the configuration: else it is made below `/tmp/storage`, where it is missing, from what is there after the boot; the next worker boots from it
 * - before a snapshot of SnapStart connections are closed, see {@see Snapshot}
 * - logs go to stderr unless LOG_CHANNEL says otherwise, and credentials are the sandbox's, see {@see Credentials}
 *
 * @internal
 */
final class Sandbox
{
    private const DIRECTORIES = ['app/public', 'framework/cache/data', 'framework/sessions', 'framework/views', 'logs', 'bootstrap'];

    /** Files below bootstrap/cache by the method that names them; the variable moves one. */
    private const CACHES = [
        'APP_SERVICES_CACHE' => 'getCachedServicesPath',
        'APP_PACKAGES_CACHE' => 'getCachedPackagesPath',
        'APP_ROUTES_CACHE' => 'getCachedRoutesPath',
        'APP_EVENTS_CACHE' => 'getCachedEventsPath',
        'APP_CONFIG_CACHE' => 'getCachedConfigPath',
    ];

    /** The cache of a worker that boots without one, though another worker may make it meanwhile. Is never there. */
    private const NO_CONFIG = 'no-config.php';

    public static function isHere(): bool
    {
        return \getenv('AWS_LAMBDA_RUNTIME_API') !== false;
    }

    /**
     * Does it for an application that was made and has not been bootstrapped.
     *
     * @param string|null $storage where to put what cannot be written where it belongs; null: `storage` in PHP's temporary directory
     *
     * @throws \RuntimeException if $storage cannot be made
     */
    public static function prepare(Application $app, ?string $storage = null): void
    {
        Snapshot::prepare($app);
        $storage ??= \sys_get_temp_dir() . '/storage';
        $deployed = $app->storagePath();
        if (!\is_writable($deployed)) {
            self::makeStorage($storage, "$deployed/framework/views");
            $app->useStoragePath($storage);
        }
        foreach (self::CACHES as $variable => $path) {
            $file = $app->$path();
            if (\is_file($file) || \is_writable(\dirname($file))) {
                continue;
            }
            self::makeStorage($storage, '');
            $moved = "$storage/bootstrap/" . \basename($file);
            $_ENV[$variable] = $variable !== 'APP_CONFIG_CACHE' || \is_file($moved) ? $moved : "$storage/bootstrap/" . self::NO_CONFIG;
        }
        $app->afterBootstrapping(LoadConfiguration::class, static function (Application $app) use ($deployed): void {
            $config = $app->make('config');
            if ($app->storagePath() !== $deployed) {
                $config->set(self::moved($config->all(), $deployed, $app->storagePath()));
            }
            if (\getenv('LOG_CHANNEL') === false && $config->get('logging.channels.stderr') !== null) {
                $config->set('logging.default', 'stderr');
            }
            Credentials::ofEnvironment()->refresh($config);
        });
    }

    /**
     * Makes the cache of the configuration, if it is missing, for an application that was bootstrapped: only now have packages added their own
     * configuration, which they don't where a cache is there. As for `config:cache`, deferred providers count.
     */
    public static function booted(Application $app): void
    {
        $missing = $app->getCachedConfigPath();
        if (\basename($missing) === self::NO_CONFIG) {
            foreach ($app->getDeferredServices() as $service => $provider) {
                // The framework's own add nothing, and there are many.
                \str_starts_with($provider, 'Illuminate\\') || $app->loadDeferredProvider($service);
            }
            self::writeConfigCache($app->make('config')->all(), $_ENV['APP_CONFIG_CACHE'] = \dirname($missing) . '/config.php');
        }
    }

    private static function makeStorage(string $storage, string $compiledViews): void
    {
        $isNew = !\is_dir("$storage/framework/views");
        foreach (self::DIRECTORIES as $directory) {
            if (!\is_dir("$storage/$directory") && !@\mkdir("$storage/$directory", 0700, true) && !\is_dir("$storage/$directory")) {
                throw new \RuntimeException("The directory $storage/$directory cannot be made, and the application's own storage cannot be written.");
            }
        }
        if ($isNew && \is_dir($compiledViews)) {
            (new Filesystem())->copyDirectory($compiledViews, "$storage/framework/views");
        }
    }

    /**
     * As `config:cache`, but without a second boot. What PHP cannot write as code is a reason to have none.
     *
     * @param array<string, mixed> $items
     */
    private static function writeConfigCache(array $items, string $file): void
    {
        $plain = true;
        \array_walk_recursive($items, static function (mixed $value) use (&$plain): void {
            $plain = $plain && ($value === null || \is_scalar($value));
        });
        if (!$plain) {
            return;
        }
        $new = "$file." . \getmypid();
        if (@\file_put_contents($new, '<?php return ' . \var_export($items, true) . ";\n") !== false) {
            \rename($new, $file);
        }
    }

    /**
     * @param array<array-key, mixed> $items
     *
     * @return array<array-key, mixed>
     */
    private static function moved(array $items, string $from, string $to): array
    {
        \array_walk_recursive($items, static function (mixed &$value) use ($from, $to): void {
            if (\is_string($value) && ($value === $from || \str_starts_with($value, "$from/"))) {
                $value = $to . \substr($value, \strlen($from));
            }
        });
        // Laravel's own template resolves this one, which gives nothing where it was not deployed.
        if (($items['view']['compiled'] ?? null) === false) {
            $items['view']['compiled'] = "$to/framework/views";
        }

        return $items;
    }

    private function __construct()
    {
    }
}
