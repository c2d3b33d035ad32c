<?php

/*
 * Shows values with their types, byte by byte: a list of leaves, each a path, a type and a text in which every byte that is no
 * printable ASCII, and the backslash, is written \xHH.
 */

/** @param array<string, mixed> $values by the name that they have in the dump */
function oracle_dump(array $values): string
{
    $leaves = [];
    foreach ($values as $name => $value) {
        oracle_leaves($name, $value, $leaves);
    }

    return json_encode(['oracle' => $leaves], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n";
}

/** @param list<array{string, string, string}> $leaves */
function oracle_leaves(string $path, mixed $value, array &$leaves): void
{
    if (!is_array($value) || $value === []) {
        $leaves[] = [$path, get_debug_type($value), oracle_text($value)];

        return;
    }
    foreach ($value as $key => $element) {
        oracle_leaves($path . '[' . (is_int($key) ? $key : '"' . oracle_text($key) . '"') . ']', $element, $leaves);
    }
}

function oracle_text(mixed $value): string
{
    if (is_array($value) || is_object($value)) {
        return is_object($value) ? $value::class : '';
    }
    if (!is_string($value)) {
        return var_export($value, true);
    }
    if (strlen($value) > 65536) {
        return strlen($value) . ' bytes, ' . md5($value);
    }

    return preg_replace_callback('/[^ -~]|\\\\/', static fn (array $match): string => sprintf('\x%02X', ord($match[0])), $value);
}

/** What PHP has made of the request. */
function oracle_request(): string
{
    $uploads = [];
    array_walk_recursive($_FILES, static function (mixed $value, int|string $key) use (&$uploads): void {
        if (is_string($value) && str_starts_with($value, '/') && is_file($value)) {
            $uploads[] = file_get_contents($value);
        }
    });

    return oracle_dump([
        '$_SERVER' => $_SERVER,
        '$_GET' => $_GET,
        '$_POST' => $_POST,
        '$_COOKIE' => $_COOKIE,
        '$_FILES' => $_FILES,
        '$_REQUEST' => $_REQUEST,
        'uploads' => $uploads,
        'getallheaders()' => getallheaders(),
        'apache_request_headers()' => apache_request_headers(),
        'php://input' => file_get_contents('php://input'),
        '$argv' => $GLOBALS['argv'] ?? null,
        '$argc' => $GLOBALS['argc'] ?? null,
    ]);
}

/** What a request finds that those before it could have left. */
function oracle_state(): string
{
    $session = isset($_SESSION);
    $errorHandler = set_error_handler(null);
    restore_error_handler();
    $exceptionHandler = set_exception_handler(null);
    restore_exception_handler();
    $changed = [];
    foreach (ini_get_all() as $name => $setting) {
        if ($setting['local_value'] !== $setting['global_value']) {
            $changed[$name] = $setting['local_value'];
        }
    }
    $environment = getenv();
    foreach (array_keys($environment) as $name) {
        if (!str_starts_with($name, 'ORACLE_')) {
            unset($environment[$name]);
        }
    }
    umask($umask = umask());
    $wrappers = stream_get_wrappers();
    sort($wrappers);

    return oracle_dump(['state' => [
        'superglobals' => [$_GET, $_POST, $_COOKIE, $_FILES, $_REQUEST],
        '$_SESSION is set' => $session,
        'session' => session_id() . ' ' . session_status() . ' ' . session_name(),
        'globals' => array_values(array_diff(array_keys($GLOBALS), ['_GET', '_POST', '_COOKIE', '_FILES', '_SERVER', '_REQUEST', '_ENV', 'argv', 'argc'])),
        'headers' => headers_list(),
        'status' => http_response_code(),
        'headers_sent()' => headers_sent(),
        'ob_get_level()' => ob_get_level(),
        'php://input' => file_get_contents('php://input'),
        'ini' => $changed,
        'error handler' => oracle_handler($errorHandler),
        'exception handler' => oracle_handler($exceptionHandler),
        'error_get_last()' => error_get_last()['message'] ?? null,
        'environment' => $environment,
        'cwd' => basename(getcwd()),
        'umask' => $umask,
        'locale' => setlocale(LC_ALL, 0),
        'time zone' => date_default_timezone_get(),
        'mb_internal_encoding()' => function_exists('mb_internal_encoding') ? mb_internal_encoding() : null,
        'mb_substitute_character()' => function_exists('mb_substitute_character') ? mb_substitute_character() : null,
        'stream wrappers' => $wrappers,
        'libxml_use_internal_errors()' => function_exists('libxml_use_internal_errors') ? libxml_use_internal_errors() : null,
        'ignore_user_abort()' => ignore_user_abort(),
        'gc_enabled()' => gc_enabled(),
        'autoloaders' => count(array_filter(spl_autoload_functions(), static fn (mixed $loader): bool =>
            !$loader instanceof Closure || !str_contains((string) (new ReflectionFunction($loader))->getFileName(), 'php/autoload.php'))),
    ]]);
}

function oracle_handler(mixed $handler): string
{
    return match (true) {
        $handler === null => 'none',
        is_string($handler) => $handler,
        default => get_debug_type($handler),
    };
}

/** Says that it waits, and waits until the client has read what was to be read before, and says so. */
function oracle_wait_for_client(): bool
{
    $go = ini_get('include_path') . '/go';
    touch(ini_get('include_path') . '/waits');
    for ($i = 0; $i < 20000; $i++) {
        clearstatcache();
        if (is_file($go)) {
            unlink($go);

            return true;
        }
        usleep(1000);
    }

    return false;
}
