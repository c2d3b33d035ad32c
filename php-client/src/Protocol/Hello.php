<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** What the supervisor says first: its versions, the worker's settings and the part of $_SERVER that all requests share. */
final class Hello
{
    /**
     * @param array<int|string, string> $settings
     * @param array<int|string, string> $server constant part of $_SERVER
     */
    public function __construct(
        public readonly int $lowestVersion,
        public readonly int $highestVersion,
        public readonly array $settings,
        public readonly array $server,
    ) {
    }

    /** @throws MalformedPayload */
    public static function decode(string $payload): self
    {
        ['low' => $low, 'high' => $high] = \unpack('nlow/nhigh', $payload);
        $offset = 4;
        $settings = PairList::decode($payload, $offset);
        $server = PairList::decode($payload, $offset);
        if ($offset !== \strlen($payload)) {
            throw new MalformedPayload('HELLO has ' . (\strlen($payload) - $offset) . ' bytes behind its last field');
        }

        return new self($low, $high, $settings, $server);
    }

    /** Whether this client speaks a version that the supervisor speaks. */
    public function isSpoken(): bool
    {
        return $this->lowestVersion <= Frame::VERSION && Frame::VERSION <= $this->highestVersion;
    }

    /** @return list<string> */
    public function capabilities(): array
    {
        return \preg_split('/ +/', $this->settings['capabilities'] ?? '', -1, \PREG_SPLIT_NO_EMPTY);
    }
}
