<?php

declare(strict_types=1);

namespace Cetane;

/** The status and header fields that header(), setcookie() and http_response_code() have set. Under the cli SAPI only the status is kept. */
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
        $hasType = false;
        $lines = \headers_list();
        foreach ($lines as $index => $line) {
            // Only three names matter here; most fields are passed over by their first byte.
            $first = $line[0];
            if ($first !== 'C' && $first !== 'S' && $first !== 'c' && $first !== 's') {
                continue;
            }
            if (\strncasecmp($line, 'content-type:', 13) === 0) {
                $hasType = true;
            } elseif (\strncasecmp($line, 'content-length:', 15) === 0) {
                $value = \trim(\substr($line, 15));
                $contentLength = \ctype_digit($value) && \strlen($value) < 19 ? (int) $value : -1;
            } elseif ($without !== '' && \str_starts_with($line, $without)) {
                unset($lines[$index]);
                $without = '';
            } elseif (\strncasecmp($line, 'status:', 7) === 0) {
                unset($lines[$index]);
                if ($status === 200 && \preg_match('/^([1-9]\d\d)(?: +(.*))?$/', \trim(\substr($line, 7)), $match) === 1) {
                    [$status, $reason] = [(int) $match[1], $match[2] ?? ''];
                }
            }
        }
        $type = $hasType ? '' : (string) \ini_get('default_mimetype');
        if ($type !== '') {
            $charset = (string) \ini_get('default_charset');
            $lines[] = 'Content-type: ' . $type
                . ($charset !== '' && \strncasecmp($type, 'text/', 5) === 0 ? "; charset=$charset" : '');
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
