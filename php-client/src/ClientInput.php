<?php

declare(strict_types=1);

namespace Cetane;

/**
 * What `filter_input()`, `filter_input_array()` and `filter_has_var()` look at: the variables of the running request as they came, whatever
 * the application has made of the superglobals since. The engine's own functions see the input of its SAPI, which has none of ours.
 */
final class ClientInput
{
    /** @param array<int|string, mixed> $variables */
    private function __construct(private readonly array $variables)
    {
    }

    /**
     * @param int $source one of the INPUT_ constants
     * @param string $argument which argument of which function that is
     *
     * @throws \ValueError when it is none of them
     */
    public static function of(int $source, string $argument): self
    {
        if (!\in_array($source, [\INPUT_POST, \INPUT_GET, \INPUT_COOKIE, \INPUT_ENV, \INPUT_SERVER], true)) {
            throw new \ValueError("$argument must be an INPUT_* constant");
        }
        $superglobals = \class_exists(Superglobals::class, false) ? Superglobals::current() : null;

        return new self($superglobals?->input($source) ?? []);
    }

    /** Whether there is a filter of that number. */
    public static function isFilter(int $filter): bool
    {
        static $filters = null;
        $filters ??= \array_flip(\array_map('filter_id', \filter_list()));

        return isset($filters[$filter]);
    }

    /** PHP looks for the name as a text, so it does not find those that have become numbers. */
    public function has(string $name): bool
    {
        return \array_key_exists($name, $this->variables) && (string) (int) $name !== $name;
    }

    /** @param array<string, mixed>|int $options */
    public function filtered(string $name, int $filter, array|int $options): mixed
    {
        if ($this->has($name)) {
            return \filter_var($this->variables[$name], $filter, $options);
        }
        if (\is_array($options) && \is_array($options['options'] ?? null) && \array_key_exists('default', $options['options'])) {
            return $options['options']['default'];
        }

        return self::nothing($options);
    }

    /**
     * @param array<string, mixed>|int $options
     *
     * @return array<int|string, mixed>|false|null
     */
    public function allFiltered(array|int $options, bool $addEmpty): array|false|null
    {
        if ($this->variables === []) {
            return \is_int($options) ? self::nothing($options) : null;
        }

        return \filter_var_array($this->variables, $options, $addEmpty);
    }

    /**
     * FILTER_NULL_ON_FAILURE means the opposite where there is nothing.
     *
     * @param array<string, mixed>|int $options
     */
    private static function nothing(array|int $options): ?bool
    {
        $flags = \is_array($options) ? (int) ($options['flags'] ?? 0) : $options;

        return ($flags & \FILTER_NULL_ON_FAILURE) !== 0 ? false : null;
    }
}
