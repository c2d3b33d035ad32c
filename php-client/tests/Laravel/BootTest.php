<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Illuminate\Foundation\Application;
use stdClass;

/**
 * What the application made while it booted.
 */
final class BootTest extends LaravelTestCase
{
    protected static function whenBooted(Application $app): void
    {
        config(['cetane.flush' => ['flushed'], 'cetane.warm' => ['warmed']]);
        foreach (['kept', 'flushed', 'warmed'] as $name) {
            $app->singleton($name, static fn (): stdClass => new stdClass());
        }
        $app->make('kept');
        $app->make('flushed');
        $app->terminating(static function (): void {
            app('kept')->terminated = (app('kept')->terminated ?? 0) + 1;
        });
    }

    public function testSingletonsStayUnlessTheyAreToBeFlushed(): void
    {
        $visitor = self::visitor();
        self::assertSame('[true,true]', $visitor->run(static fn (): array => array_map(app()->resolved(...), ['kept', 'warmed'])));
        $visitor->run(static function (): string {
            app('kept')->changed = app('warmed')->changed = app('flushed')->changed = true;

            return '';
        });
        self::assertSame('[true,true,false]', $visitor->run(static fn (): array => [
            isset(app('kept')->changed), isset(app('warmed')->changed), isset(app('flushed')->changed),
        ]));
    }

    public function testTerminatingCallbacksOfProvidersRunAfterEachRequest(): void
    {
        $visitor = self::visitor();
        $count = static fn (): int => app('kept')->terminated ?? 0;
        $before = (int) $visitor->run($count);
        self::assertSame($before + 1, (int) $visitor->run($count));
        self::assertSame($before + 2, (int) $visitor->run($count));
    }

    public function testTheApplicationServesHttpWhateverTheSapi(): void
    {
        self::assertFalse(self::$application->laravel()->runningInConsole());
    }
}
