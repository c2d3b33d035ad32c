<?php

declare(strict_types=1);

/** One request, sent again and again. */
final class Load
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly string $path,
        public readonly array $headers = [],
        public readonly string $body = '',
        public readonly string $method = 'GET',
    ) {
    }

    public static function body(string $path, int $bytes): self
    {
        return new self($path, ['Content-Type' => 'application/octet-stream'], str_repeat('x', $bytes), 'POST');
    }

    /** A form of text fields. */
    public static function form(string $path, int $fields): self
    {
        $values = [];
        for ($i = 0; $i < $fields; $i++) {
            $values["field_$i"] = "Value number $i, & some more";
        }
        return new self($path, ['Content-Type' => 'application/x-www-form-urlencoded'], http_build_query($values), 'POST');
    }

    /** A multipart form of files. */
    public static function uploads(string $path, int $files, int $bytes): self
    {
        $body = '';
        for ($i = 0; $i < $files; $i++) {
            $body .= "--benchmark-boundary\r\nContent-Disposition: form-data; name=\"file_$i\"; filename=\"photo $i.jpg\"\r\n"
                . "Content-Type: image/jpeg\r\n\r\n" . str_repeat("\r\n-- no boundary", intdiv($bytes, 15)) . str_repeat('.', $bytes % 15) . "\r\n";
        }
        return new self($path, ['Content-Type' => 'multipart/form-data; boundary=benchmark-boundary'], "$body--benchmark-boundary--\r\n", 'POST');
    }

    public static function cookies(string $path, int $cookies): self
    {
        $pairs = [];
        for ($i = 0; $i < $cookies; $i++) {
            $pairs[] = "cookie_$i=" . substr(hash('sha256', (string) $i), 0, 24) . '%3D';
        }
        return new self($path, ['Cookie' => implode('; ', $pairs)]);
    }

    public static function headers(string $path, int $headers): self
    {
        $fields = [];
        for ($i = 0; $i < $headers; $i++) {
            $fields["X-Header-Number-$i"] = "value of field $i, with some text";
        }
        return new self($path, $fields);
    }

    public function with(string $header, string $value): self
    {
        return new self($this->path, $this->headers + ($value === '' ? [] : [$header => $value]), $this->body, $this->method);
    }
}
