<?php

declare(strict_types=1);

namespace App\Octane;

use Illuminate\Support\Facades\Cache;
use Illuminate\Support\ServiceProvider;
use Laravel\Octane\Events\RequestReceived;
use LogicException;
use PDO;
use RuntimeException;

final class HarnessServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $config = $this->app->make('config');
        $config->set('octane.cache', ['rows' => 100, 'bytes' => 10_000]);
        $config->set('octane.tables', ['visits:100' => ['count' => 'int', 'page' => 'string:20', 'share' => 'float']]);
        $config->set('cache.stores.octane', ['driver' => 'octane']);
        $config->set('database.connections.server', [
            'driver' => 'mysql', 'host' => '127.0.0.1', 'port' => getenv('HARNESS_DATABASE_PORT'), 'database' => 'demo', 'username' => 'demo',
            'password' => '', 'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => false,
            'options' => [PDO::ATTR_EMULATE_PREPARES => true],
        ]);
        $this->app->scoped('counted', static fn (): object => (object) ['uses' => 0]);
    }

    public function boot(): void
    {
        $broken = getenv('HARNESS_BROKEN');
        if ($broken !== false && ($broken !== 'web' || !$this->app->runningInConsole())) {
            throw new LogicException('a provider does not like it here');
        }
        $this->loadRoutesFrom(base_path('routes/octane.php'));
        if ($this->app->bound('octane.cacheTable')) {
            $this->loadRoutesFrom(base_path('routes/sharing.php'));
            $this->app->make('octane')->tick('harness', static fn () => Cache::store('octane')->increment('ticks'));
            Cache::store('octane')->interval('now-and-then', static fn (): int => time(), 1);
        }
        // Runs outside of Laravel's kernel, whose exception handler never sees what it throws.
        $this->app->make('events')->listen(RequestReceived::class, static function (RequestReceived $event): void {
            if ($event->request->is('escape')) {
                echo 'printed before it escaped';
                throw new RuntimeException('this exception escapes the kernel');
            }
        });
    }
}
