<?php

declare(strict_types=1);

namespace Cetane;

/** Reads a Cookie field by the rules of PHP: names are not decoded but made variable names, the first of equal names wins. */
final class Cookies
{
    /** @return array<int|string, mixed> */
    public static function parse(string $field): array
    {
        if ($field === '') {
            return [];
        }
        // To parse_str() the usual cookies are a query. But there the last of equal names wins, and there are limits.
        $semicolons = \substr_count($field, ';');
        if (
            $semicolons < 100
            && \preg_match('/^(?> *+[A-Za-z0-9_-]++=[^;&+]*+(?:;|$))++$/D', $field) === 1
            && \ini_get('arg_separator.input') === '&'
        ) {
            \parse_str(\strtr($field, ';', '&'), $cookies);
            if (\count($cookies) === $semicolons + ($field[-1] === ';' ? 0 : 1)) {
                return $cookies;
            }
        }
        $cookies = [];
        $odd = false;
        foreach (\explode(';', $field) as $pair) {
            [$name, $value] = \explode('=', $pair, 2) + [1 => ''];
            $name = \ltrim($name, " \t\n\r\v\f");
            if ($name === '') {
                continue;
            }
            // Names made of these bytes stay as they are; the others have to go through PHP's own rules.
            if (\strspn($name, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-') !== \strlen($name)) {
                $odd = true;
                break;
            }
            $cookies[$name] ??= \rawurldecode($value);
        }

        return $odd ? self::parseOdd($field) : $cookies;
    }

    /** @return array<int|string, mixed> */
    private static function parseOdd(string $field): array
    {
        $query = [];
        $seen = [];
        foreach (\explode(';', $field) as $pair) {
            [$name, $value] = \explode('=', $pair, 2) + [1 => ''];
            $name = \ltrim($name, " \t\n\r\v\f");
            if ($name === '') {
                continue;
            }
            $part = \rawurlencode($name) . '=' . \rawurlencode(\rawurldecode($value));
            \parse_str($part, $alone);
            $key = \array_key_first($alone);
            if ($key === null || self::fakesPrefix($name, (string) $key)) {
                continue;
            }
            if (!\is_array($alone[$key])) {
                if (isset($seen[$key])) {
                    continue;
                }
            }
            $seen[$key] = true;
            $query[] = $part;
        }
        \parse_str(\implode(self::separator(), $query), $cookies);

        return $cookies;
    }

    /** A name like "..Host-x" must not become one that browsers protect. */
    private static function fakesPrefix(string $name, string $key): bool
    {
        foreach (['__Host-', '__Secure-'] as $prefix) {
            if (\str_starts_with($key, $prefix) && !\str_starts_with($name, $prefix)) {
                return true;
            }
        }

        return false;
    }

    private static function separator(): string
    {
        return \substr((string) \ini_get('arg_separator.input'), 0, 1) ?: '&';
    }

    private function __construct()
    {
    }
}
