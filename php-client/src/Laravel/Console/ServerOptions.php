<?php

declare(strict_types=1);

namespace Cetane\Laravel\Console;

use Illuminate\Contracts\Config\Repository;

/**
 * Makes the settings of `cetane serve` of the options of `cetane:start`, of config/octane.php and of config/cetane.php, the last one winning.
 */
final class ServerOptions
{
    /**
     * @param array{host: string, port: string, workers: string, task-workers: string, max-requests: string, watch: bool, debug: bool} $options
     */
    public function __construct(private readonly Repository $config, private readonly array $options)
    {
    }

    /**
     * Settings by their keys.
     *
     * @return array<string, string>
     */
    public function settings(): array
    {
        $limit = $this->config->get('octane.max_execution_time');
        $watched = (array) $this->config->get('octane.watch');

        return array_map(self::text(...), (array) $this->config->get('cetane.settings')) + array_filter([
            'http.listen' => self::address($this->options['host'], $this->options['port']),
            'pool.workers' => $this->options['workers'],
            'pool.task-workers' => $this->options['task-workers'],
            'pool.max-requests' => $this->options['max-requests'],
            'pool.request-timeout' => $limit === null ? null : self::seconds($limit),
            'app.kind' => 'laravel',
            'app.debug' => self::text((bool) $this->config->get('app.debug')),
            // The names of .env are taken out before, and Laravel reads that file for itself.
            'app.pass-environment' => '*',
            'http.access-log' => 'true',
            'log.format' => 'json',
            'log.level' => $this->options['debug'] ? 'debug' : null,
            'watch.enabled' => $this->options['watch'] ? 'true' : null,
            'watch.paths' => $this->options['watch'] && $watched !== [] ? self::text($watched) : null,
        ], static fn (?string $value): bool => $value !== null);
    }

    /**
     * The same as words of the command line.
     *
     * @return list<string>
     */
    public function words(): array
    {
        $words = [];
        foreach ($this->settings() as $key => $value) {
            array_push($words, '--set', "$key=$value");
        }

        return $words;
    }

    private static function address(string $host, string $port): string
    {
        return (str_contains($host, ':') && !str_starts_with($host, '[') ? "[$host]" : $host) . ":$port";
    }

    /** Octane's 0 is no limit, as ours is. */
    private static function seconds(mixed $seconds): string
    {
        return (float) $seconds <= 0 ? '0' : (int) round(1000 * (float) $seconds) . 'ms';
    }

    private static function text(mixed $value): string
    {
        return match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            is_array($value) => implode(', ', array_map(self::text(...), $value)),
            default => (string) $value,
        };
    }
}
