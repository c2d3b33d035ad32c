<?php

declare(strict_types=1);

namespace Cetane;

/** Fills $_SERVER, $_GET, $_POST, $_COOKIE, $_FILES, $_REQUEST and php://input for each request as php-fpm does, and empties them. */
final class Superglobals
{
    private readonly string $variables;
    /** @var list<string> */
    private readonly array $requestOrder;
    private readonly bool $argv;
    private readonly int $bodyLimit;
    /** @var array<int|string, mixed> $_SERVER outside requests */
    private readonly array $server;
    /** @var array<string, string> what the process was started with: php-fpm has it in $_SERVER too */
    private array $environment;
    /** @var array<string, mixed>|null $_ENV at the start of each request, but for the first one that boots the application */
    private ?array $env = null;

    /** @var array<int, array<int|string, mixed>> by INPUT_ constant, as the client sent it */
    private array $input = [];

    private static ?self $current = null;

    /** Whether this process has had a session. */
    private bool $sessions = false;

    /** @param bool $isBooted whether the application has its configuration by now, and not when the first request is over */
    public function __construct(bool $isBooted = false)
    {
        $this->variables = \strtoupper((string) \ini_get('variables_order'));
        // An empty one is not the same as none, which ini_get() can't tell.
        $this->requestOrder = \str_split(\strtoupper(\ini_get_all(null, false)['request_order'] ?? $this->variables));
        $this->argv = \PHP_SAPI !== 'cli' && (bool) \ini_get('register_argc_argv');
        $this->bodyLimit = Request::bytes((string) \ini_get('post_max_size'));
        $this->server = $_SERVER;
        $this->environment = \array_filter(
            \getenv(),
            static fn (string $name): bool => !\str_starts_with($name, 'CETANE_'),
            \ARRAY_FILTER_USE_KEY,
        );
        // Named once, $_REQUEST is made now and not when the application is compiled: it would be made of this process' own input.
        $_REQUEST = [];
        if ($isBooted) {
            $this->takeEnvironment();
        }
        self::$current = $this;
    }

    public function fill(Request $request): void
    {
        $_POST = [];
        $_FILES = [];
        if ($request->bodyLength() > 0) {
            $this->fillFromBody($request);
        } elseif ($request->multipart() !== null) {
            $_POST = $request->form();
            $_FILES = $request->files();
        }
        $server = $request->takeServer();
        $server['PHP_SELF'] ??= ($server['SCRIPT_NAME'] ?? '') . ($server['PATH_INFO'] ?? '');
        if (isset($server['HTTP_AUTHORIZATION'])) {
            $server += self::credentials($server['HTTP_AUTHORIZATION']);
        }
        $query = $server['QUERY_STRING'] ?? '';
        if ($this->argv) {
            $server['argv'] = $query === '' ? [] : \explode('+', $query);
            $server['argc'] = \count($server['argv']);
        }
        $server += $this->environment;
        $_SERVER = $server;
        $_GET = $query !== '' && \str_contains($this->variables, 'G') ? Request::parse($query) : [];
        $_COOKIE = isset($server['HTTP_COOKIE']) && \str_contains($this->variables, 'C') ? Cookies::parse($server['HTTP_COOKIE']) : [];
        $_REQUEST = $this->merged();
        $this->input = [\INPUT_POST => $_POST, \INPUT_GET => $_GET, \INPUT_COOKIE => $_COOKIE, \INPUT_SERVER => $server];
        if ($this->sessions) {
            $this->aimSession();
        }
    }

    /**
     * What the client sent; of INPUT_SERVER what a web server says of it, and not what PHP and the environment add.
     *
     * @return array<int|string, mixed>
     *
     * @internal for filter_input()
     */
    public function input(int $source): array
    {
        if ($source === \INPUT_ENV) {
            return \str_contains($this->variables, 'E') ? $this->environment : [];
        }
        $variables = $this->input[$source] ?? [];

        return $source !== \INPUT_SERVER ? $variables : \array_diff_key(
            \array_filter($variables, 'is_string'),
            $this->environment,
            ['PHP_AUTH_USER' => '', 'PHP_AUTH_PW' => '', 'PHP_AUTH_DIGEST' => ''],
        );
    }

    private function fillFromBody(Request $request): void
    {
        if ($this->bodyLimit > 0 && $request->bodyLength() > $this->bodyLimit) {
            \error_log(\sprintf(
                'PHP Warning:  POST Content-Length of %d bytes exceeds the limit of %d bytes',
                $request->bodyLength(),
                $this->bodyLimit,
            ));
        } elseif ($request->variable('REQUEST_METHOD') === 'POST' && \str_contains($this->variables, 'P')) {
            $_POST = $request->form();
        }
        InputStream::register($request);
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /**
     * Names the session that the client's cookie names. PHP itself looks at the cookie only in the first session of a process: an id, even
     * an empty one, once set stays set.
     *
     * @internal for session_name()
     */
    public function aimSession(): void
    {
        if (!$this->sessions) {
            return;
        }
        $id = $_COOKIE[(string) \ini_get('session.name')] ?? '';
        \session_id(\is_string($id) ? $id : '');
    }

    /** The client's own session cookie, as PHP would set it once more because the id did not come from there; '' when there is none. */
    public function repeatedCookie(): string
    {
        if (!$this->sessions) {
            return '';
        }
        $name = (string) \ini_get('session.name');
        $id = $_COOKIE[$name] ?? '';

        return \is_string($id) && $id !== '' ? "Set-Cookie: $name=" . \urlencode($id) . ';' : '';
    }

    /**
     * Drops what belongs to the request, so that nothing of it is seen outside or kept in memory.
     *
     * @return bool whether it has had a session
     */
    public function clear(): bool
    {
        InputStream::unregister();
        $this->clearEnvironment();
        $_SERVER = $this->server;
        $_GET = $_POST = $_COOKIE = $_FILES = $_REQUEST = [];
        $this->input = [];
        if (\function_exists('session_status')) {
            if (\session_status() === \PHP_SESSION_ACTIVE) {
                \session_write_close();
            }
            if (isset($_SESSION) || \session_id() !== '') {
                $this->sessions = true;
                unset($_SESSION);

                return true;
            }
        }

        return false;
    }

    private function clearEnvironment(): void
    {
        if ($this->env === null) {
            $this->takeEnvironment();
        } else {
            $_ENV = $this->env;
        }
    }

    /** What is in $_ENV by now is taken for the application's configuration (.env), in $_SERVER too. */
    private function takeEnvironment(): void
    {
        $this->env = $_ENV;
        foreach ($_ENV as $name => $value) {
            if (($_SERVER[$name] ?? null) === $value) {
                $this->environment[$name] = $value;
            }
        }
    }

    /** @return array<int|string, mixed> */
    private function merged(): array
    {
        $request = [];
        foreach ($this->requestOrder as $source) {
            $variables = match ($source) {
                'G' => $_GET,
                'P' => $_POST,
                'C' => $_COOKIE,
                default => [],
            };
            if ($variables !== []) {
                $request = $request === [] ? $variables : \array_replace_recursive($request, $variables);
            }
        }

        return $request;
    }

    /** @return array<string, string> */
    private static function credentials(string $authorization): array
    {
        if (\strncasecmp($authorization, 'Basic ', 6) === 0) {
            // PHP sees a NUL as the end.
            [$decoded] = \explode("\0", (string) \base64_decode(\substr($authorization, 6)), 2);
            if (\str_contains($decoded, ':')) {
                [$user, $password] = \explode(':', $decoded, 2);

                return ['PHP_AUTH_USER' => $user] + ($password === '' ? [] : ['PHP_AUTH_PW' => $password]);
            }
        } elseif (\strncasecmp($authorization, 'Digest ', 7) === 0) {
            return ['PHP_AUTH_DIGEST' => \substr($authorization, 7)];
        }

        return [];
    }
}
