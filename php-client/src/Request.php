<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\PairList;

/** One HTTP request, or an event of another kind. It is decoded when it is asked for: an object that nobody asks costs nothing. */
final class Request
{
    /** @var array<int|string, string>|null */
    private ?array $pairs = null;

    /**
     * @param int $number the worker's requests are numbered 1, 2, 3 …
     * @param float $receivedAt seconds since 1970-01-01T00:00Z
     * @param int $timeoutMillis what was left of the time limit when the request was sent to the worker, 0 for no limit; the
     *     supervisor enforces it
     * @param list<string> $names
     * @param string $values joined by NUL
     * @param string $body the body, or the path of the file that holds it
     * @param array<int|string, string> $constant the part of $_SERVER that all requests share
     * @param bool $isEvent whether it is no HTTP request but an event: its context is in {@see variable()}, its JSON in {@see body()}
     *
     * @internal made by {@see Worker::wait()}
     */
    public function __construct(
        public readonly int $number,
        public readonly float $receivedAt,
        public readonly int $timeoutMillis,
        private readonly array $names,
        private readonly string $values,
        private readonly string $body,
        private readonly bool $bodyInFile,
        private readonly array $constant = [],
        private readonly ?Form $form = null,
        public readonly bool $isEvent = false,
    ) {
    }

    /**
     * Decodes a pair list and a body into a request, for tests of applications.
     *
     * @param array<string, string> $server
     */
    public static function of(array $server, string $body = '', int $number = 1): self
    {
        $offset = 0;
        $list = PairList::decode(PairList::encode($server), $offset);

        return new self($number, \microtime(true), 0, \array_keys($list), \implode("\0", $list), $body, false);
    }

    /**
     * $_SERVER as php-fpm fills it, with REQUEST_TIME and REQUEST_TIME_FLOAT.
     *
     * @return array<int|string, mixed>
     */
    public function server(): array
    {
        $pairs = $this->pairs();
        $server = $this->takeServer();
        $this->pairs = $pairs;

        return $server;
    }

    /**
     * {@see server()} for one who keeps it: no copy stays here, and what is asked of this request later has to be decoded once more.
     *
     * @return array<int|string, mixed>
     *
     * @internal
     */
    public function takeServer(): array
    {
        $server = $this->pairs();
        $this->pairs = null;
        // Now the only owner, $server grows in place.
        $server += $this->constant;
        $server['REQUEST_TIME_FLOAT'] = $this->receivedAt;
        $server['REQUEST_TIME'] = (int) $this->receivedAt;

        return $server;
    }

    /** One entry of $_SERVER, e.g. REMOTE_ADDR; null when there is none. */
    public function variable(string $name): ?string
    {
        return $this->pairs()[$name] ?? $this->constant[$name] ?? null;
    }

    /** E.g. GET. */
    public function method(): string
    {
        return $this->variable('REQUEST_METHOD') ?? 'GET';
    }

    /** Path and query as the client sent them, escapes kept. */
    public function uri(): string
    {
        return $this->variable('REQUEST_URI') ?? '/';
    }

    /** Path as the client sent it, escapes kept. */
    public function path(): string
    {
        return \strstr($this->uri(), '?', true) ?: $this->uri();
    }

    /** Text behind the question mark; empty when there is none. */
    public function queryString(): string
    {
        return $this->variable('QUERY_STRING') ?? '';
    }

    /** A header field by its name in any case; repeated fields come joined by ", ". Null when there is none. */
    public function header(string $name): ?string
    {
        $name = \strtoupper(\strtr($name, '-', '_'));

        return $this->variable($name === 'CONTENT_TYPE' || $name === 'CONTENT_LENGTH' ? $name : "HTTP_$name");
    }

    /**
     * All header fields by their names in lower case.
     *
     * @return array<string, string>
     */
    public function headers(): array
    {
        $headers = [];
        foreach ($this->pairs() as $name => $value) {
            $name = (string) $name;
            if (\str_starts_with($name, 'HTTP_')) {
                $headers[\strtolower(\strtr(\substr($name, 5), '_', '-'))] = $value;
            } elseif (($name === 'CONTENT_TYPE' || $name === 'CONTENT_LENGTH') && $value !== '') {
                $headers[\strtolower(\strtr($name, '_', '-'))] = $value;
            }
        }

        return $headers;
    }

    /**
     * The query as $_GET.
     *
     * @return array<int|string, mixed>
     */
    public function query(): array
    {
        return self::parse($this->queryString());
    }

    /**
     * The body of a form as $_POST has it: URL-encoded for any method, multipart for POST; empty when the body is no form, or an
     * URL-encoded one larger than post_max_size.
     *
     * @return array<int|string, mixed>
     */
    public function form(): array
    {
        if ($this->form !== null) {
            return $this->form->variables();
        }
        $type = $this->variable('CONTENT_TYPE') ?? '';
        $type = \substr($type, 0, \strcspn($type, ';, '));
        if (\strcasecmp($type, 'application/x-www-form-urlencoded') !== 0 || $this->bodyLength() === 0) {
            return [];
        }
        $limit = self::bytes((string) \ini_get('post_max_size'));
        if ($limit > 0 && $this->bodyLength() > $limit) {
            \trigger_error(\sprintf('POST data of %d bytes exceeds post_max_size, %d bytes', $this->bodyLength(), $limit), \E_USER_WARNING);

            return [];
        }

        return self::parse($this->body());
    }

    /**
     * The uploaded files as $_FILES has them. They are deleted after the request; the worker may move them away.
     *
     * @return array<int|string, array<string, mixed>>
     */
    public function files(): array
    {
        return $this->form?->files() ?? [];
    }

    /**
     * The multipart form that the body was, null when it was none.
     *
     * @internal
     */
    public function multipart(): ?Form
    {
        return $this->form;
    }

    /**
     * The cookies as $_COOKIE has them.
     *
     * @return array<int|string, mixed>
     */
    public function cookies(): array
    {
        return Cookies::parse($this->variable('HTTP_COOKIE') ?? '');
    }

    /** Bytes of the body; 0 for a multipart form by POST, of which only {@see form()} and {@see files()} are left, as in PHP. */
    public function bodyLength(): int
    {
        return $this->bodyInFile ? (int) @\filesize($this->body) : \strlen($this->body);
    }

    /** The body in memory, whatever its size: prefer {@see bodyStream()} where large bodies are expected. */
    public function body(): string
    {
        return $this->bodyInFile ? (string) \file_get_contents($this->body) : $this->body;
    }

    /**
     * The body as a new stream, readable and seekable. A large body is read from its file and never as a whole.
     *
     * @return resource
     */
    public function bodyStream()
    {
        if ($this->bodyInFile) {
            return \fopen($this->body, 'rb') ?: throw new \RuntimeException('The body of the request is gone; was it moved?');
        }
        $stream = \fopen('php://memory', 'w+b');
        if ($this->body !== '') {
            \fwrite($stream, $this->body);
            \rewind($stream);
        }

        return $stream;
    }

    /** Path of the file that holds the body, deleted after the request; null when the body is small enough to be in memory. */
    public function bodyFile(): ?string
    {
        return $this->bodyInFile ? $this->body : null;
    }

    /**
     * The request is done. Of each file that was opened PHP keeps the name, up to realpath_cache_size: a worker would grow by every upload.
     *
     * @internal
     */
    public function forgetFiles(): void
    {
        if ($this->bodyInFile) {
            \clearstatcache(true, $this->body);
        }
        $this->form?->forgetNames();
    }

    /**
     * A size as php.ini writes it, in bytes: "8M".
     *
     * @internal
     */
    public static function bytes(string $size): int
    {
        return (int) $size << match (\strtolower(\substr(\trim($size), -1))) {
            'k' => 10,
            'm' => 20,
            'g' => 30,
            default => 0,
        };
    }

    /** @return array<int|string, string> */
    private function pairs(): array
    {
        return $this->pairs ??= $this->names === [] ? [] : \array_combine($this->names, \explode("\0", $this->values));
    }

    /**
     * A query as $_GET.
     *
     * @return array<int|string, mixed>
     *
     * @internal
     */
    public static function parse(string $query): array
    {
        if ($query === '') {
            return [];
        }
        // It would stop there.
        $query = \str_replace("\0", '%00', $query);
        $limit = (int) \ini_get('max_input_vars');
        if (\strlen($query) <= $limit || \substr_count($query, '&') < $limit) {
            \parse_str($query, $variables);

            return $variables;
        }
        // What PHP has to say of it is not the business of a handler that the application has set.
        \set_error_handler(null);
        \parse_str($query, $variables);
        \restore_error_handler();

        return $variables;
    }
}
