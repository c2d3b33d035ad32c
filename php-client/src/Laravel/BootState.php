<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Closure;
use Illuminate\Contracts\Auth\Access\Gate;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Contracts\Routing\ResponseFactory;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Once;
use Illuminate\Support\Str;
use ReflectionClass;
use Throwable;
use WeakMap;

/**
 * What a booted Laravel application looks like before its first request, and the way back to that after each one.
 *
 * Octane clones the application for each request and hands the clone to every service that holds the original. Here the application stays
 * the one object that providers, closures and singletons captured, and is put back in place: first the container (bindings, instances,
 * callbacks, flags), then every service of the framework that existed after boot, property by property. A service that a request was the
 * first to make is forgotten with the container's list of instances. So a property that a future Laravel adds is reset without being
 * known here; the worst that can happen to an unknown cache is that it is filled again.
 *
 * What is reset without laravel/octane, and what is not:
 *
 * | state                                                                                    | after each request                   |
 * |------------------------------------------------------------------------------------------|--------------------------------------|
 * | bindings, singletons and scoped instances made by the request, container callbacks       | gone                                 |
 * | configuration, locale (translator, Carbon by event), time zone, `setlocale()`            | as after boot                        |
 * | current request, route, controller instances, route parameters                           | gone                                 |
 * | auth guards and users, gate definitions, session stores, queued cookies                  | gone                                 |
 * | URL generator (forced scheme or root, defaults), redirector, paginator (reads from URL)  | as after boot                        |
 * | shared view data, sections, stacks, view locations, Blade directives, validator rules    | as after boot                        |
 * | event listeners, router bindings and middleware, terminating callbacks                   | as after boot, see below             |
 * | mailers, notification and broadcast drivers, HTTP client fakes, hash drivers             | made anew                            |
 * | log context, Monolog's buffers and processors                                            | reset; channels stay open            |
 * | query log, open transactions, "records were modified"                                    | flushed, rolled back, forgotten      |
 * | database, Redis and queue connections, cache stores, file system disks, loaded languages | kept; stores of driver `array` empty |
 * | facades' instances, `Str` and `once()` caches, Vite's preloaded assets, trusted proxies  | as after boot                        |
 * | singletons of the application or of packages that were made during boot                  | **kept**, unless in `cetane.flush`   |
 * | static properties of any class, event listeners that booted models register              | **kept**                             |
 * | `ini_set()`, `putenv()`, error handlers and the like                                     | see {@see \Cetane\ProcessState}      |
 * | functions, classes, constants                                                            | **kept**                             |
 *
 * Configuration, both optional: `cetane.warm`, abstracts to resolve during boot so that requests find them; `cetane.flush`, abstracts
 * made during boot that each request shall make anew.
 *
 * @internal
 */
final class BootState
{
    /** Resolved during boot where the application has them: what most requests need, and what is cheap to hold. */
    private const WARM = [
        'auth', 'blade.compiler', 'cache', 'config', 'cookie', 'db', 'encrypter', 'events', 'files', 'hash', 'log', 'router', 'routes',
        'session', 'translator', 'url', 'validator', 'view', Gate::class,
    ];

    /** Tied to a visitor or a request by what they hold: never part of the state to come back to. */
    private const FLUSH = ['auth.driver', 'session.store', 'redirect', ResponseFactory::class];

    /** Properties with what is dear to make and belongs to no request. */
    private const KEPT = [
        \Illuminate\Cache\CacheManager::class => ['stores'],
        \Illuminate\Database\DatabaseManager::class => ['connections'],
        \Illuminate\Events\Dispatcher::class => ['listeners'],
        \Illuminate\Filesystem\FilesystemManager::class => ['disks'],
        \Illuminate\Log\LogManager::class => ['channels'],
        \Illuminate\Queue\QueueManager::class => ['connections'],
        \Illuminate\Redis\RedisManager::class => ['connections'],
        \Illuminate\Translation\Translator::class => ['loaded'],
    ];

    /** Properties of a database connection that belong to a request. */
    private const PER_REQUEST_OF_CONNECTION = [
        'queryLog', 'loggingQueries', 'pretending', 'recordsModified', 'readOnWriteConnection', 'totalQueryDuration', 'queryDurationHandlers',
        'beforeExecutingCallbacks', 'beforeStartingTransaction',
    ];

    /** @var list<ObjectSnapshot> */
    private readonly array $services;

    /** @var WeakMap<object, array<string, mixed>> what these properties were after boot, or are by default, by connection */
    private WeakMap $connections;

    private readonly ObjectSnapshot $container;

    /** @var array<string, mixed> listeners by event name; the base of what comes back, models booted since included */
    private array $listeners;

    private readonly string $locale;
    private readonly string $timeZone;
    private readonly string $cLocale;
    private readonly int $trustedHeaders;

    /** @var list<string> */
    private readonly array $trustedProxies;

    private function __construct(private readonly Application $app)
    {
        $services = [];
        foreach ([...array_values(self::readAll($app)['instances'] ?? []), ...self::channels($app->make('log'))] as $instance) {
            $this->snapshot($instance, $services);
        }
        $this->services = array_values($services);
        $this->connections = new WeakMap();
        foreach ($app->resolved('db') ? $app->make('db')->getConnections() : [] as $connection) {
            $this->connections[$connection] = self::requestPart(self::readAll($connection));
        }
        $this->container = new ObjectSnapshot($app);
        $this->listeners = self::read($app->make('events'), 'listeners');
        $this->locale = $app->getLocale();
        $this->timeZone = date_default_timezone_get();
        $this->cLocale = (string) setlocale(LC_ALL, '0');
        $this->trustedProxies = Request::getTrustedProxies();
        $this->trustedHeaders = Request::getTrustedHeaderSet();
    }

    /**
     * Completes the boot of $app (deferred providers, services to warm) and takes what is there as the state to come back to.
     */
    public static function capture(Application $app): self
    {
        $app->loadDeferredProviders();
        foreach ([...self::WARM, ...$app->make('config')->get('cetane.warm', [])] as $abstract) {
            try {
                if ($app->bound($abstract)) {
                    $app->make($abstract);
                }
            } catch (Throwable) {
                // A service that is not configured (no APP_KEY, for one) fails where it is used, as it does under php-fpm.
            }
        }
        foreach (['auth' => 'forgetGuards', 'session' => 'forgetDrivers'] as $abstract => $forget) {
            if ($app->resolved($abstract) && method_exists($app->make($abstract), $forget)) {
                $app->make($abstract)->$forget();
            }
        }
        foreach ([...self::FLUSH, ...$app->make('config')->get('cetane.flush', [])] as $abstract) {
            $app->forgetInstance($abstract);
        }
        Facade::clearResolvedInstances();

        return new self($app);
    }

    /**
     * Puts the application back. When it throws, the application is in an unknown state and must not take another request.
     */
    public function restore(): void
    {
        // The container first: from here on it gives the services of the boot, whatever the request put in their place.
        $this->container->restore();
        $this->restoreListeners();
        if ($this->app->getLocale() !== $this->locale) {
            // By the method, not by the property: Carbon and others follow the event.
            $this->app->setLocale($this->locale);
        }
        $this->forgetRoute();
        OpenTransactions::rollBack($this->app);
        $this->cleanConnections();
        $this->cleanCaches();
        $this->cleanLogs();
        foreach ($this->services as $service) {
            $service->restore();
        }
        $this->restoreStatics();
    }

    private function forgetRoute(): void
    {
        $route = $this->app->make('router')->current();
        if ($route !== null) {
            // The controller and the middleware closures it made hold the request that they were made for.
            $route->flushController();
            $route->parameters = null;
        }
    }

    private function cleanConnections(): void
    {
        $connections = $this->app->resolved('db') ? $this->app->make('db')->getConnections() : [];
        foreach ($connections as $connection) {
            $this->connections[$connection] ??= self::requestPart((new ReflectionClass($connection))->getDefaultProperties());
            self::write($connection, $this->connections[$connection]);
        }
    }

    private function cleanCaches(): void
    {
        $stores = $this->app->resolved('cache') ? self::read($this->app->make('cache'), 'stores') : [];
        foreach ($stores as $store) {
            if ($store->getStore() instanceof \Illuminate\Cache\ArrayStore) {
                $store->getStore()->flush();
            }
        }
    }

    private function cleanLogs(): void
    {
        foreach (self::channels($this->app->make('log')) as $channel) {
            if (method_exists($channel, 'withoutContext')) {
                $channel->withoutContext();
            }
            $monolog = method_exists($channel, 'getLogger') ? $channel->getLogger() : null;
            if ($monolog instanceof \Monolog\ResettableInterface) {
                $monolog->reset();
            }
        }
    }

    /**
     * A model registers its listeners once per process, when it boots. They must survive although a request was the first to use the model.
     */
    private function restoreListeners(): void
    {
        $events = $this->app->make('events');
        $current = self::read($events, 'listeners');
        if ($current === $this->listeners) {
            return;
        }
        foreach (array_diff_key($current, $this->listeners) as $event => $listeners) {
            if (str_starts_with((string) $event, 'eloquent.')) {
                $this->listeners[$event] = $listeners;
            }
        }
        self::write($events, ['listeners' => $this->listeners]);
    }

    private function restoreStatics(): void
    {
        Facade::clearResolvedInstances();
        if (method_exists(Str::class, 'flushCache')) {
            Str::flushCache();
        }
        if (class_exists(Once::class, false)) {
            Once::flush();
        }
        if (Request::getTrustedProxies() !== $this->trustedProxies || Request::getTrustedHeaderSet() !== $this->trustedHeaders) {
            Request::setTrustedProxies($this->trustedProxies, $this->trustedHeaders);
        }
        if (date_default_timezone_get() !== $this->timeZone) {
            date_default_timezone_set($this->timeZone);
        }
        if (setlocale(LC_ALL, '0') !== $this->cLocale) {
            setlocale(LC_ALL, $this->cLocale);
        }
    }

    /**
     * Takes a snapshot of $service and of what it holds in its properties, as far as that is of the framework and does not stay as it is.
     *
     * @param array<int, ObjectSnapshot> $snapshots by object id; what is there is not taken again
     */
    private function snapshot(mixed $service, array &$snapshots): void
    {
        if (!is_object($service) || $service === $this->app || isset($snapshots[spl_object_id($service)]) || !self::isOfFramework($service)) {
            return;
        }
        $kept = self::keptProperties($service);
        $snapshots[spl_object_id($service)] = new ObjectSnapshot($service, $kept);
        foreach (array_diff_key(self::readAll($service), array_flip($kept)) as $part) {
            $this->snapshot($part, $snapshots);
        }
    }

    private static function isOfFramework(object $instance): bool
    {
        for ($class = $instance::class; $class !== false; $class = get_parent_class($class)) {
            if (str_starts_with($class, 'Illuminate\\') || str_starts_with($class, 'Inertia\\')) {
                return true;
            }
        }

        return false;
    }

    /**
     * @return list<string>
     */
    private static function keptProperties(object $service): array
    {
        foreach (self::KEPT as $class => $properties) {
            if ($service instanceof $class) {
                return $properties;
            }
        }

        return [];
    }

    /**
     * @return array<object>
     */
    private static function channels(object $log): array
    {
        return method_exists($log, 'getChannels') ? $log->getChannels() : [];
    }

    /**
     * @param array<string, mixed> $properties
     *
     * @return array<string, mixed>
     */
    private static function requestPart(array $properties): array
    {
        return array_intersect_key($properties, array_flip(self::PER_REQUEST_OF_CONNECTION));
    }

    /**
     * @return array<string, mixed>
     */
    private static function readAll(object $object): array
    {
        return Closure::bind(fn (): array => get_object_vars($this), $object, $object::class)();
    }

    private static function read(object $object, string $property): mixed
    {
        return Closure::bind(fn (): mixed => $this->$property ?? [], $object, $object::class)();
    }

    /**
     * @param array<string, mixed> $values
     */
    private static function write(object $object, array $values): void
    {
        Closure::bind(function () use ($values): void {
            foreach ($values as $name => $value) {
                $this->$name = $value;
            }
        }, $object, $object::class)();
    }
}
