<?php

declare(strict_types=1);

namespace Cetane;

/**
 * The header fields that header() and setcookie() have set under the cli SAPI, which itself keeps the status alone: see functions.php. Behaves as
 * PHP does under a web SAPI, checks, warnings and exceptions included.
 *
 * @link https://www.php.net/manual/en/function.header.php
 * @link https://www.php.net/manual/en/function.setcookie.php
 *
 * @internal
 */
final class HeaderFields
{
    /** As in PHP, these can't be part of a cookie's name, of a raw value or of an attribute. */
    private const NOT_IN_COOKIES = ",; \t\r\n\v\f";
    /** Where the years of four digits end. */
    private const YEAR_10000 = 253_402_300_800;

    /** @var list<string> lines "Name: value" */
    private static array $lines = [];

    /** @return list<string> */
    public static function lines(): array
    {
        return self::$lines;
    }

    /** Makes the next request start without fields. */
    public static function clear(): void
    {
        self::$lines = [];
    }

    /**
     * The fields of a response, and before them those that were set beside it, but for the content type: as if the response had been sent by header().
     *
     * @param array<int|string, string|int|list<string>> $fields of the response, as {@see Response} takes them
     *
     * @return array<int|string, string|int|list<string>>
     */
    public static function besides(array $fields): array
    {
        if (self::$lines === []) {
            return $fields;
        }
        $lines = \array_filter(self::$lines, static fn (string $line): bool => \str_contains($line, ':') && !self::isNamed($line, 'content-type'));

        return \array_values([...$lines, ...Response::linesOf($fields)]);
    }

    public static function add(string $line, bool $replace, int $status): void
    {
        $line = \rtrim($line, " \t\r\n\v\f");
        if ($line === '') {
            return;
        }
        if (\headers_sent()) {
            self::warn('Cannot modify header information - headers already sent');

            return;
        }
        $problem = match (true) {
            \str_contains($line, "\n"), \str_contains($line, "\r") => 'Header may not contain more than a single header, new line detected',
            \str_contains($line, "\0") => 'Header may not contain NUL bytes',
            default => null,
        };
        if ($problem !== null) {
            self::warn($problem);

            return;
        }
        if (\strncasecmp($line, 'HTTP/', 5) === 0) {
            \http_response_code(self::statusOf($line));

            return;
        }
        $colon = \strpos($line, ':');
        if ($colon !== false) {
            $name = \substr($line, 0, $colon);
            if (\strcasecmp($name, 'Content-Type') === 0) {
                $type = \ltrim(\substr($line, $colon + 1), ' ');
                $line = self::lacksCharset($type) ? "Content-type: $type;charset=" . \ini_get('default_charset') : $line;
            } elseif (\strcasecmp($name, 'Location') === 0) {
                $now = (int) \http_response_code() ?: 200;
                if (($now < 300 || $now > 399) && $now !== 201) {
                    \http_response_code(302);
                }
            } elseif (\strcasecmp($name, 'WWW-Authenticate') === 0) {
                \http_response_code(401);
            }
            if ($replace) {
                self::drop($name);
            }
        }
        if ($status !== 0) {
            \http_response_code($status);
        }
        self::$lines[] = $line;
    }

    public static function remove(?string $name): void
    {
        if (\headers_sent()) {
            self::warn('Cannot modify header information - headers already sent');
        } elseif ($name === null) {
            self::$lines = [];
        } else {
            self::drop($name);
        }
    }

    /**
     * @param callable-string                                $function setcookie or setrawcookie, whose arguments the others are
     * @param int|array<array-key, int|string|bool|float|null> $expiresOrOptions
     *
     * @throws \ValueError|\ArgumentCountError where PHP's own does
     */
    public static function cookie(
        string $function,
        string $name,
        string $value,
        int|array $expiresOrOptions,
        string $path,
        string $domain,
        bool $secure,
        bool $httpOnly,
        int $arguments,
    ): bool {
        $options = ['expires' => 0, 'path' => $path, 'domain' => $domain, 'secure' => $secure, 'httponly' => $httpOnly, 'samesite' => ''];
        if (\is_array($expiresOrOptions)) {
            if ($arguments > 3) {
                throw new \ArgumentCountError("$function(): Expects exactly 3 arguments when argument #3 (\$expires_or_options) is an array");
            }
            $options = self::cookieOptions($function, $expiresOrOptions) + $options;
        } else {
            $options['expires'] = $expiresOrOptions;
        }
        self::checkCookie($function, $name, $value, $options);
        if (\headers_sent()) {
            self::warn('Cannot modify header information - headers already sent');

            return false;
        }
        self::$lines[] = 'Set-Cookie: ' . self::cookieLine($name, $function === 'setcookie' ? \rawurlencode($value) : $value, $options);

        return true;
    }

    /**
     * @param array<array-key, int|string|bool|float|null> $given
     *
     * @return array<string, int|string|bool>
     */
    private static function cookieOptions(string $function, array $given): array
    {
        $options = [];
        foreach ($given as $option => $setting) {
            if (\is_int($option)) {
                throw new \ValueError("$function(): option array cannot have numeric keys");
            }
            $key = \strtolower($option);
            $options[$key] = match ($key) {
                'expires' => (int) $setting,
                'secure', 'httponly' => (bool) $setting,
                'path', 'domain', 'samesite' => (string) $setting,
                default => throw new \ValueError("$function(): option \"$option\" is invalid"),
            };
        }

        return $options;
    }

    /** @param array<string, int|string|bool> $options */
    private static function checkCookie(string $function, string $name, string $value, array $options): void
    {
        $characters = '",", ";", " ", "\t", "\r", "\n", "\013", or "\014"';
        $problem = match (true) {
            $name === '' => 'Argument #1 ($name) cannot be empty',
            \strpbrk($name, '=' . self::NOT_IN_COOKIES) !== false => "Argument #1 (\$name) cannot contain \"=\", $characters",
            $function === 'setrawcookie' && \strpbrk($value, self::NOT_IN_COOKIES) !== false => "Argument #2 (\$value) cannot contain $characters",
            \strpbrk((string) $options['path'], self::NOT_IN_COOKIES) !== false => "\"path\" option cannot contain $characters",
            \strpbrk((string) $options['domain'], self::NOT_IN_COOKIES) !== false => "\"domain\" option cannot contain $characters",
            $value !== '' && $options['expires'] >= self::YEAR_10000 => '"expires" option cannot have a year greater than 9999',
            default => null,
        };
        if ($problem !== null) {
            throw new \ValueError("$function(): $problem");
        }
    }

    /** @param array<string, int|string|bool> $options */
    private static function cookieLine(string $name, string $value, array $options): string
    {
        $line = $value === '' ? "$name=deleted; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0" : "$name=$value";
        $expires = (int) $options['expires'];
        if ($value !== '' && $expires > 0) {
            $line .= '; expires=' . \gmdate('D, d M Y H:i:s', $expires) . ' GMT; Max-Age=' . \max(0, $expires - \time());
        }
        $line .= $options['path'] === '' ? '' : "; path={$options['path']}";
        $line .= $options['domain'] === '' ? '' : "; domain={$options['domain']}";

        return $line
            . ($options['secure'] ? '; secure' : '')
            . ($options['httponly'] ? '; HttpOnly' : '')
            . ($options['samesite'] === '' ? '' : "; SameSite={$options['samesite']}");
    }

    /** The code of a status line; 200 where there is none, as PHP has it. */
    private static function statusOf(string $line): int
    {
        return \preg_match('~^\S+ +(\d+)~', $line, $match) === 1 ? \max(100, \min(999, (int) $match[1])) : 200;
    }

    /** Text has PHP's default character set, unless the application says another. */
    private static function lacksCharset(string $type): bool
    {
        return \strncasecmp($type, 'text/', 5) === 0 && \stripos($type, 'charset=') === false && (string) \ini_get('default_charset') !== '';
    }

    private static function drop(string $name): void
    {
        self::$lines = \array_values(\array_filter(self::$lines, static fn (string $line): bool => !self::isNamed($line, $name)));
    }

    private static function isNamed(string $line, string $name): bool
    {
        return \strncasecmp($line, "$name:", \strlen($name) + 1) === 0;
    }

    private static function warn(string $message): void
    {
        \trigger_error($message, \E_USER_WARNING);
    }

    private function __construct()
    {
    }
}
