<?php

declare(strict_types=1);

namespace Cetane;

/**
 * One answer. The body is one of
 *
 * - a string, or anything that can be made one (\Stringable): sent with its length;
 * - an iterable of strings, e.g. a generator: each piece is sent as it comes;
 * - a \Closure: what it echoes is streamed, flush() sends it at once; a string or iterable that it returns is sent too;
 * - an open stream: sent from its position to its end;
 * - a {@see FileBody}: the supervisor sends the file, PHP does not read it.
 */
final class Response
{
    /**
     * @param array<int|string, string|int|list<string>> $headers name => value, name => list of values, or lines "Name: value"
     * @param string|\Stringable|iterable<string>|\Closure|resource|FileBody $body
     * @param string $reason text behind the status; empty for the usual one
     * @param int|null $length bytes of a body that is not a string, when known
     */
    public function __construct(
        public readonly int $status = 200,
        public readonly array $headers = [],
        public readonly mixed $body = '',
        public readonly string $reason = '',
        public readonly ?int $length = null,
    ) {
    }

    /**
     * The header as lines "Name: value".
     *
     * @return list<string>
     */
    public function lines(): array
    {
        return self::linesOf($this->headers);
    }

    /**
     * @param array<int|string, string|int|list<string>> $headers
     *
     * @return list<string>
     *
     * @internal
     */
    public static function linesOf(array $headers): array
    {
        $lines = [];
        foreach ($headers as $name => $value) {
            if (\is_array($value)) {
                foreach ($value as $one) {
                    $lines[] = "$name: $one";
                }
            } else {
                $lines[] = \is_int($name) ? $value : "$name: $value";
            }
        }

        return $lines;
    }
}
