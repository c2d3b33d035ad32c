<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

use Illuminate\Contracts\Config\Repository;

/**
 * The credentials of the function's role. They are temporary and belong to one sandbox, so what a cache of the configuration has of them is wrong
 * anywhere else; and it never has the session token, which Laravel's templates leave out.
 *
 * @internal
 */
final class Credentials
{
    /** How the keys of roles begin. Those of users, which do not expire, begin otherwise and stay. */
    private const TEMPORARY = 'ASIA';

    private const DRIVERS = ['s3', 'sqs', 'dynamodb', 'ses', 'ses-v2', 'sns'];

    public function __construct(
        private readonly string $key,
        private readonly string $secret,
        private readonly string $token,
    ) {
    }

    public static function ofEnvironment(): self
    {
        return new self((string) \getenv('AWS_ACCESS_KEY_ID'), (string) \getenv('AWS_SECRET_ACCESS_KEY'), (string) \getenv('AWS_SESSION_TOKEN'));
    }

    /** Puts them wherever a service of AWS is configured without credentials of its own. */
    public function refresh(Repository $config): void
    {
        if ($this->key === '') {
            return;
        }
        foreach (['cache.stores', 'filesystems.disks', 'queue.connections', 'mail.mailers'] as $group) {
            foreach ((array) $config->get($group, []) as $name => $service) {
                $this->refreshOne($config, "$group.$name", $service);
            }
        }
        foreach (['services.ses', 'services.sns', 'services.dynamodb', 'queue.failed', 'queue.batching'] as $name) {
            $this->refreshOne($config, $name, $config->get($name));
        }
    }

    private function refreshOne(Repository $config, string $name, mixed $service): void
    {
        if (!\is_array($service) || !$this->isOfAws($name, $service)) {
            return;
        }
        $key = (string) ($service['key'] ?? '');
        if ($key === '' || $key === $this->key || \str_starts_with($key, self::TEMPORARY)) {
            $config->set($name, ['key' => $this->key, 'secret' => $this->secret] + ($this->token === '' ? [] : ['token' => $this->token]) + $service);
        }
    }

    /** @param array<array-key, mixed> $service */
    private function isOfAws(string $name, array $service): bool
    {
        return \str_starts_with($name, 'services.') || \in_array($service['driver'] ?? $service['transport'] ?? '', self::DRIVERS, true);
    }
}
