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

    /** @throws ProtocolViolation */
    public static function decode(string $payload): self
    {
        ['low' => $low, 'high' => $high] = \unpack('nlow/nhigh', $payload);
        if ($low > $high) {
            throw new ProtocolViolation("HELLO offers versions $low to $high, which is no range");
        }
        $offset = 4;
        $settings = PairList::decode($payload, $offset);
        $server = PairList::decode($payload, $offset);
        if ($offset !== \strlen($payload)) {
            throw new ProtocolViolation('HELLO has ' . (\strlen($payload) - $offset) . ' bytes behind its last field');
        }

        return new self($low, $high, $settings, $server);
    }

    /** @return list<string> */
    public function capabilities(): array
    {
        return \preg_split('/ +/', $this->settings['capabilities'] ?? '', -1, \PREG_SPLIT_NO_EMPTY);
    }
}
