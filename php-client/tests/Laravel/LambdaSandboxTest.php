<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\Laravel\Lambda\Credentials;
use Cetane\Laravel\Lambda\DatabaseSessions;
use Cetane\Laravel\Lambda\Sandbox;
use Cetane\Lambda\SnapStart;
use Illuminate\Cache\CacheManager;
use Illuminate\Cache\MemcachedStore;
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\MySqlConnection;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\BootProviders;
use Illuminate\Foundation\Bootstrap\LoadConfiguration;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Support\Facades\Facade;
use PHPUnit\Framework\TestCase;

final class LambdaSandboxTest extends TestCase
{
    private string $directory;
    private ?Container $container;

    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/application/vendor/autoload.php';
    }

    protected function setUp(): void
    {
        $this->directory = sys_get_temp_dir() . '/cetane-sandbox-' . bin2hex(random_bytes(6));
        mkdir("$this->directory/config", 0700, true);
        $this->container = Container::getInstance();
    }

    protected function tearDown(): void
    {
        (new \Illuminate\Filesystem\Filesystem())->deleteDirectory($this->directory);
        foreach (['SERVICES', 'PACKAGES', 'CONFIG', 'ROUTES', 'EVENTS'] as $cache) {
            unset($_ENV["APP_{$cache}_CACHE"]);
        }
        Container::setInstance($this->container);
        Facade::clearResolvedInstances();
    }

    private function application(string $config): Application
    {
        file_put_contents("$this->directory/config/app.php", '<?php return ["name" => "shop", "env" => "production", "providers" => []];');
        file_put_contents("$this->directory/config/view.php", "<?php return $config;");

        return new Application($this->directory);
    }

    private function bootstrapped(Application $app): Application
    {
        Sandbox::prepare($app, "$this->directory/tmp");
        $app->bootstrapWith([LoadConfiguration::class, RegisterProviders::class, BootProviders::class]);
        Sandbox::booted($app);

        return $app;
    }

    public function testWhatCannotBeWrittenWhereItBelongsMovesAndTheConfigurationIsCachedForTheNextWorker(): void
    {
        $app = $this->bootstrapped($this->application('["compiled" => storage_path("framework/views")]'));
        self::assertSame("$this->directory/tmp", $app->storagePath());
        self::assertSame("$this->directory/tmp/framework/views", $app->make('config')->get('view.compiled'));
        self::assertDirectoryExists("$this->directory/tmp/framework/views");
        self::assertSame("$this->directory/tmp/bootstrap/config.php", $app->getCachedConfigPath());
        self::assertTrue($app->configurationIsCached());

        file_put_contents("$this->directory/config/app.php", '<?php throw new LogicException("read again");');
        $next = $this->bootstrapped(new Application($this->directory));
        self::assertSame('shop', $next->make('config')->get('app.name'));
        self::assertSame("$this->directory/tmp/framework/views", $next->make('config')->get('view.compiled'));
    }

    public function testAConfigurationThatWasCachedBeforeDeploymentIsUsedAndItsPathsMove(): void
    {
        $app = $this->application('[]');
        mkdir("$this->directory/bootstrap/cache", 0700, true);
        $cached = [
            'app' => ['env' => 'production', 'providers' => []],
            'view' => ['compiled' => "$this->directory/storage/framework/views", 'other' => "$this->directory/storage-x"],
        ];
        file_put_contents("$this->directory/bootstrap/cache/config.php", '<?php return ' . var_export($cached, true) . ';');
        $config = $this->bootstrapped($app)->make('config');
        self::assertSame("$this->directory/tmp/framework/views", $config->get('view.compiled'));
        self::assertSame("$this->directory/storage-x", $config->get('view.other'));
    }

    public function testWhatCanBeWrittenStaysAndNoCacheAppearsInADevelopersTree(): void
    {
        mkdir("$this->directory/storage");
        mkdir("$this->directory/bootstrap/cache", 0700, true);
        $app = $this->bootstrapped($this->application('[]'));
        self::assertSame("$this->directory/storage", $app->storagePath());
        self::assertFalse($app->configurationIsCached());
        self::assertDirectoryDoesNotExist("$this->directory/tmp");
    }

    public function testTheCacheHasWhatPackagesAddToTheConfigurationThoseThatAreDeferredToo(): void
    {
        $config = ['name' => 'shop', 'env' => 'production', 'providers' => [PackageProvider::class, DeferredPackageProvider::class]];
        $app = $this->application('[]');
        file_put_contents("$this->directory/config/app.php", '<?php return ' . var_export($config, true) . ';');
        file_put_contents("$this->directory/package.php", '<?php return ["listeners" => ["of the package"]];');
        $first = $this->bootstrapped($app);
        $second = $this->bootstrapped(new Application($this->directory));
        self::assertTrue($second->configurationIsCached());
        foreach ([$first, $second] as $each) {
            self::assertSame(['of the package'], $each->make('config')->get('package.listeners'));
            self::assertSame(['of the package'], $each->make('config')->get('deferred.listeners'));
        }
    }

    public function testAWorkerThatHasBegunWithoutACacheGoesOnSoThoughAnotherMakesOneMeanwhile(): void
    {
        $app = $this->application('[]');
        Sandbox::prepare($app, "$this->directory/tmp");
        $app->bootstrapWith([LoadConfiguration::class]);
        $own = $_ENV['APP_CONFIG_CACHE'];
        $this->bootstrapped(new Application($this->directory));
        self::assertFileExists("$this->directory/tmp/bootstrap/config.php");
        $_ENV['APP_CONFIG_CACHE'] = $own;
        self::assertFalse($app->configurationIsCached(), 'packages add their configuration');
    }

    public function testAConfigurationThatIsNoCodeIsNotCached(): void
    {
        $app = $this->bootstrapped($this->application('["callback" => fn () => 1]'));
        self::assertFalse($app->configurationIsCached());
        self::assertSame('shop', $app->make('config')->get('app.name'));
    }

    public function testServicesOfAwsGetTheCredentialsOfTheRoleUnlessTheyHaveTheirOwn(): void
    {
        $config = new Repository([
            'filesystems' => ['disks' => [
                's3' => ['driver' => 's3', 'key' => null, 'bucket' => 'b'],
                'stale' => ['driver' => 's3', 'key' => 'ASIAOLD', 'secret' => 'old', 'token' => 'old'],
                'own' => ['driver' => 's3', 'key' => 'AKIAUSER', 'secret' => 'mine'],
                'local' => ['driver' => 'local'],
            ]],
            'queue' => ['connections' => ['sqs' => ['driver' => 'sqs', 'key' => 'ASIANEW', 'secret' => 's']]],
            'services' => ['ses' => ['key' => '', 'region' => 'x']],
        ]);
        (new Credentials('ASIANEW', 'secret', 'token'))->refresh($config);
        $role = ['key' => 'ASIANEW', 'secret' => 'secret', 'token' => 'token'];
        self::assertSame($role + ['driver' => 's3', 'bucket' => 'b'], $config->get('filesystems.disks.s3'));
        self::assertSame($role + ['driver' => 's3'], $config->get('filesystems.disks.stale'));
        self::assertSame(['driver' => 's3', 'key' => 'AKIAUSER', 'secret' => 'mine'], $config->get('filesystems.disks.own'));
        self::assertSame(['driver' => 'local'], $config->get('filesystems.disks.local'));
        self::assertSame($role + ['driver' => 'sqs'], $config->get('queue.connections.sqs'));
        self::assertSame($role + ['region' => 'x'], $config->get('services.ses'));
    }

    /** @return array{Application, Manager} */
    private function database(string $database): array
    {
        $manager = new Manager();
        $manager->addConnection(['driver' => 'sqlite', 'database' => $database]);
        $app = new Application($this->directory);
        $app->instance('db', $manager->getDatabaseManager());

        return [$app, $manager];
    }

    public function testConnectionsAreClosedAfterEachRequestUnlessTheyAreToBeKept(): void
    {
        touch("$this->directory/db.sqlite");
        [$app, $manager] = $this->database("$this->directory/db.sqlite");
        $manager->getConnection()->select('select 1');
        (new DatabaseSessions(true, 0))->end($app);
        self::assertNotNull($manager->getConnection()->getRawPdo());
        (new DatabaseSessions(false, 0))->end($app);
        self::assertNull($manager->getConnection()->getRawPdo());
        self::assertEquals([(object) ['a' => 1]], $manager->getConnection()->select('select 1 as a'));
    }

    public function testNoConnectionGoesIntoASnapshotThoughTheApplicationsHooksUseThemAndTheyOpenAnewAfterwards(): void
    {
        touch("$this->directory/db.sqlite");
        [$app, $manager] = $this->database("$this->directory/db.sqlite");
        $manager->addConnection(['driver' => 'sqlite', 'database' => ':memory:'], 'memory');
        $manager->getConnection('memory')->statement('create table t (a int)');
        $redis = new class () {
            /** @var list<string> */
            public array $said = [];

            /** @return array<string, object> */
            public function connections(): array
            {
                return ['default' => $this, 'gone' => $this];
            }

            public function disconnect(): void
            {
                $this->said[] = 'closed';
                \count($this->said) === 3 && throw new \RuntimeException('read error on connection');
            }

            public function purge(string $name): void
            {
                $this->said[] = "forgot $name";
            }
        };
        $app->instance('redis', $redis);
        // PHP's extension may not be there.
        $memcached = new class () extends MemcachedStore {
            public int $quits = 0;

            public function __construct()
            {
            }

            public function getMemcached(): self
            {
                return $this;
            }

            public function quit(): bool
            {
                return ++$this->quits > 0;
            }
        };
        $cache = new CacheManager($app);
        $cache->extend('memcached', fn () => $cache->repository($memcached));
        $app->instance('config', new Repository(['cache' => ['stores' => ['memcached' => ['driver' => 'memcached'], 'array' => ['driver' => 'array']]]]));
        $app->instance('cache', $cache);
        $cache->store('memcached');
        $cache->store('array');

        Sandbox::prepare($app, "$this->directory/tmp");
        SnapStart::beforeCheckpoint(static fn () => $manager->getConnection()->select('select 1'));
        self::assertStringContainsString('Redis connection gone could not be closed well', $this->errorLog(static fn () => SnapStart::checkpoint()));
        self::assertNull($manager->getConnection()->getRawPdo());
        self::assertSame(['closed', 'forgot default', 'closed', 'forgot gone'], $redis->said);
        self::assertSame(1, $memcached->quits);
        SnapStart::restored();
        self::assertEquals([(object) ['a' => 1]], $manager->getConnection()->select('select 1 as a'));
        self::assertSame([], $manager->getConnection('memory')->select('select * from t'));
    }

    /** What is said there is not for the console. */
    private function errorLog(\Closure $work): string
    {
        $before = \ini_set('error_log', "$this->directory/error.log");
        try {
            $work();
        } finally {
            \ini_set('error_log', (string) $before);
        }

        return (string) @\file_get_contents("$this->directory/error.log");
    }

    public function testADatabaseInMemoryIsKept(): void
    {
        [$app, $manager] = $this->database(':memory:');
        $manager->getConnection()->statement('create table t (a int)');
        (new DatabaseSessions(false, 0))->end($app);
        self::assertSame([], $manager->getConnection()->select('select * from t'));
    }

    public function testTheServerClosesWhatIsKeptAndIdleAndNotWhatIsUsed(): void
    {
        $pdo = new class () extends \PDO {
            /** @var list<string> */
            public array $said = [];
            public bool $gone = false;

            public function __construct()
            {
                parent::__construct('sqlite::memory:');
            }

            public function exec(string $statement): int|false
            {
                $this->said[] = $this->gone ? throw new \PDOException('server has gone away') : $statement;

                return 0;
            }
        };
        [$app, $manager] = $this->database(':memory:');
        $connection = new MySqlConnection($pdo, 'shop', '', ['name' => 'mysql', 'driver' => 'mysql']);
        $manager->getDatabaseManager()->extend('mysql', static fn () => $connection);
        $manager->addConnection(['driver' => 'mysql'], 'mysql');
        $manager->getConnection('mysql')->select('select 1');
        $connection->setReconnector(static fn ($connection) => $connection->setPdo(new \PDO('sqlite::memory:')));

        $sessions = new DatabaseSessions(true, 60);
        $sessions->end($app);
        self::assertSame(['SET SESSION wait_timeout=60'], $pdo->said);
        $sessions->begin($app);
        self::assertCount(1, $pdo->said, 'a request that asks the database nothing costs nothing');
        $connection->select('select 1');
        $connection->select('select 2');
        self::assertSame(['SET SESSION wait_timeout=60', 'SET SESSION wait_timeout=@@GLOBAL.wait_timeout'], $pdo->said);

        $sessions->end($app);
        $sessions->begin($app);
        $pdo->gone = true;
        self::assertEquals([(object) ['a' => 3]], $connection->select('select 3 as a'), 'it is opened anew');
    }
}
