<?php

declare(strict_types=1);

namespace Cetane;

/** The status and header fields that header(), setcookie() and http_response_code() have set. Under the cli SAPI see {@see HeaderFields}. */
final class SapiHead
{
    /** @param list<string> $lines */
    private function __construct(
        public readonly int $status,
        public readonly array $lines,
        public readonly string $reason,
        /** What the application said about its body's length; -1 when nothing. */
        public readonly int $contentLength,
    ) {
    }

    /**
     * Reads what is set, with PHP's own default for the content type.
     *
     * @param string $without the first field that starts with this is left out
     */
    public static function read(string $without = ''): self
    {
        $status = \http_response_code() ?: 200;
        $reason = '';
        $contentLength = -1;
        $type = null;
        $lines = \headers_list();
        foreach ($lines as $index => $line) {
            if (!\str_contains($line, ':')) {
                unset($lines[$index]); // header() takes it, and no server passes it on
                continue;
            }
            // Only a few names matter here; most fields are passed over by their first byte.
            if (\strpbrk($line[0], 'cClLsS') === false) {
                continue;
            }
            if (\strncasecmp($line, 'content-type:', 13) === 0) {
                // The last one counts, and an empty one is none.
                if ($type !== null) {
                    unset($lines[$type]);
                }
                $type = $index;
                if (\trim(\substr($line, 13)) === '') {
                    unset($lines[$index]);
                }
            } elseif (\strncasecmp($line, 'content-length:', 15) === 0) {
                $value = \trim(\substr($line, 15));
                if (\ctype_digit($value) && \strlen($value) < 19) {
                    $contentLength = (int) $value;
                } else {
                    unset($lines[$index]);
                }
            } elseif ($without !== '' && \str_starts_with($line, $without)) {
                unset($lines[$index]);
                $without = '';
            } elseif ($status === 200 && \strncasecmp($line, 'location:', 9) === 0) {
                $status = 302; // as by CGI, where 200 is no status at all
            } elseif (\strncasecmp($line, 'status:', 7) === 0) {
                unset($lines[$index]);
                if ($status === 200 && \preg_match('/^([1-9]\d\d)(?: +(.*))?$/', \trim(\substr($line, 7)), $match) === 1) {
                    [$status, $reason] = [(int) $match[1], $match[2] ?? ''];
                }
            }
        }
        $default = $type !== null || $status === 304 ? '' : (string) \ini_get('default_mimetype');
        if ($default !== '') {
            $charset = (string) \ini_get('default_charset');
            $lines[] = 'Content-type: ' . $default
                . ($charset !== '' && \strncasecmp($default, 'text/', 5) === 0 ? "; charset=$charset" : '');
        }

        return new self($status, \array_is_list($lines) ? $lines : \array_values($lines), $reason, $contentLength);
    }

    /** Makes the next request start without fields and with status 200. */
    public static function reset(): void
    {
        \header_remove();
        // This drops the status line of header('HTTP/1.1 418 …') too.
        \http_response_code(200);
    }

    /** Makes php-cgi print nothing but an empty line when the process ends. */
    public static function silence(): void
    {
        if (\PHP_SAPI === 'cli') {
            return; // it has no fields to print, and warns when output was printed before the worker connected
        }
        self::reset();
        \ini_set('default_mimetype', '');
    }
}
