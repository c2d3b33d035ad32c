<?php

/*
 * Functions of PHP that code outside the engine can't observe, but that a worker has to: the supervisor starts PHP with these in
 * disable_functions, which lets a script define them anew (PHP 8.0 and later). Where they are not disabled, PHP's own stay.
 */

declare(strict_types=1);

use Cetane\ClientInput;
use Cetane\HeaderFields;
use Cetane\Output;
use Cetane\PrintedAnswer;
use Cetane\ProcessState;
use Cetane\Shutdown;
use Cetane\Worker;

if (!function_exists('flush')) {
    /** Sends what was printed and is in no buffer, at once. */
    function flush(): void
    {
        if (class_exists(Output::class, false)) {
            Output::current()?->flush();
        }
    }
}

if (!function_exists('ob_implicit_flush')) {
    function ob_implicit_flush(bool $enable = true): void
    {
        if (class_exists(Output::class, false)) {
            Output::current()?->flushImplicitly($enable);
        }
    }
}

if (!function_exists('ob_get_level')) {
    /** Counts the application's buffers: the outermost one belongs to the worker and can't be removed. */
    function ob_get_level(): int
    {
        $output = class_exists(Output::class, false) ? Output::current() : null;

        return $output === null ? count(ob_list_handlers()) : $output->depth();
    }
}

if (!function_exists('connection_aborted')) {
    /** 1 when the client has left, else 0. */
    function connection_aborted(): int
    {
        return class_exists(Worker::class, false) && Worker::current()?->isCancelled() === true ? 1 : 0;
    }
}

if (!function_exists('connection_status')) {
    /** CONNECTION_NORMAL or CONNECTION_ABORTED. */
    function connection_status(): int
    {
        return connection_aborted();
    }
}

if (!function_exists('header')) {
    /**
     * Sets a header field or, by a status line, the status: the cli SAPI would drop the field.
     */
    function header(string $header, bool $replace = true, int $response_code = 0): void
    {
        HeaderFields::add($header, $replace, $response_code);
    }
}

if (!function_exists('header_remove')) {
    /** Drops the fields of that name, or all. */
    function header_remove(?string $name = null): void
    {
        HeaderFields::remove($name);
    }
}

if (!function_exists('headers_list')) {
    /** @return list<string> what header() and setcookie() have set */
    function headers_list(): array
    {
        return HeaderFields::lines();
    }
}

if (!function_exists('setcookie')) {
    /** @param int|array<string, int|string|bool> $expires_or_options */
    function setcookie(
        string $name,
        string $value = '',
        int|array $expires_or_options = 0,
        string $path = '',
        string $domain = '',
        bool $secure = false,
        bool $httponly = false,
    ): bool {
        return HeaderFields::cookie('setcookie', $name, $value, $expires_or_options, $path, $domain, $secure, $httponly, func_num_args());
    }
}

if (!function_exists('setrawcookie')) {
    /** @param int|array<string, int|string|bool> $expires_or_options */
    function setrawcookie(
        string $name,
        string $value = '',
        int|array $expires_or_options = 0,
        string $path = '',
        string $domain = '',
        bool $secure = false,
        bool $httponly = false,
    ): bool {
        return HeaderFields::cookie('setrawcookie', $name, $value, $expires_or_options, $path, $domain, $secure, $httponly, func_num_args());
    }
}

if (!function_exists('headers_sent')) {
    /**
     * Whether the head of the answer has left.
     *
     * @param mixed $filename always set to ''
     * @param mixed $line always set to 0
     */
    function headers_sent(&$filename = null, &$line = null): bool
    {
        $filename = '';
        $line = 0;

        return class_exists(Worker::class, false) && Worker::current()?->isHeadSent() === true;
    }
}

if (!function_exists('getallheaders')) {
    /** @return array<string, string> header fields of the running request */
    function getallheaders(): array
    {
        $headers = [];
        $request = class_exists(Worker::class, false) ? Worker::current()?->request() : null;
        foreach ($request?->headers() ?? [] as $name => $value) {
            $headers[ucwords((string) $name, '-')] = $value;
        }

        return $headers;
    }
}

if (!function_exists('apache_request_headers')) {
    /** @return array<string, string> header fields of the running request */
    function apache_request_headers(): array
    {
        return getallheaders();
    }
}

if (extension_loaded('session') && !function_exists('session_name')) {
    /** The name of the session; a new name makes the client's cookie of that name count. */
    function session_name(?string $name = null): string|false
    {
        $old = ini_get('session.name');
        if ($name !== null && ini_set('session.name', $name) !== false && class_exists(\Cetane\Superglobals::class, false)) {
            \Cetane\Superglobals::current()?->aimSession();
        }

        return $old;
    }
}

if (PHP_SAPI === 'cgi-fcgi' && !function_exists('fastcgi_finish_request')) {
    /** Completes the answer: the client gets it now, and what is printed later is dropped. False when it was complete already. */
    function fastcgi_finish_request(): bool
    {
        return class_exists(\Cetane\SapiExchange::class, false) && \Cetane\SapiExchange::current()?->complete() === true;
    }
}

if (PHP_SAPI === 'cgi-fcgi' && !function_exists('headers_send')) {
    /**
     * Sends what header() has set so far, and the status. With 1xx that is an interim answer, such as 103 Early Hints: the fields stay set,
     * and belong to the final answer too unless header_remove() drops them.
     *
     * @return int 1 when an interim answer was sent, 0 when the final head was, -1 when it is too late for either
     */
    function headers_send(int $status = 200): int
    {
        $sent = class_exists(\Cetane\SapiExchange::class, false) && \Cetane\SapiExchange::current()?->sendHead($status) === true;

        return $sent ? (int) ($status < 200) : -1;
    }
}

if (PHP_SAPI === 'cgi-fcgi' && !function_exists('frankenphp_handle_request')) {
    /**
     * Serves one request by the callback, which prints the answer. False: leave the loop.
     *
     * @throws RuntimeException in anything but a worker script of kind frankenphp
     */
    function frankenphp_handle_request(callable $callback): bool
    {
        return \Cetane\FrankenPhp::handleRequest($callback);
    }

    /** Completes the answer, as fastcgi_finish_request(). */
    function frankenphp_finish_request(): bool
    {
        return fastcgi_finish_request();
    }

    /** @return array<string, string> header fields of the running request, as getallheaders() */
    function frankenphp_request_headers(): array
    {
        return getallheaders();
    }

    /** @return array<string, string> fields of the answer so far, as apache_response_headers() */
    function frankenphp_response_headers(): array
    {
        return apache_response_headers();
    }
}

if (!function_exists('is_uploaded_file')) {
    /** Whether this is the path of a file that came with the running request and was not moved away. */
    function is_uploaded_file(string $filename): bool
    {
        return class_exists(\Cetane\Form::class, false) && Worker::current()?->request()?->multipart()?->hasUpload($filename) === true;
    }
}

if (!function_exists('move_uploaded_file')) {
    /** Moves a file that came with the running request; false when it is none, or can't be moved. */
    function move_uploaded_file(string $from, string $to): bool
    {
        if (!is_uploaded_file($from)) {
            return false;
        }
        // PHP's own says nothing of its first attempt, not even to an error handler.
        set_error_handler(static fn (): bool => true);
        $moved = rename($from, $to);
        restore_error_handler();
        if (!$moved) {
            trigger_error("move_uploaded_file(): Unable to move \"$from\" to \"$to\"", E_USER_WARNING);

            return false;
        }
        chmod($to, 0666 & ~umask());
        Worker::current()->request()->multipart()->forget($from);

        return true;
    }
}

if (function_exists('filter_var') && !function_exists('filter_input')) {
    /** Whether the client has sent a variable of that name. */
    function filter_has_var(int $input_type, string $var_name): bool
    {
        return ClientInput::of($input_type, 'filter_has_var(): Argument #1 ($input_type)')->has($var_name);
    }

    /**
     * A variable as the client sent it, by a filter; null when there is none.
     *
     * @param array<string, mixed>|int $options
     */
    function filter_input(int $type, string $var_name, int $filter = FILTER_DEFAULT, array|int $options = 0): mixed
    {
        if (!ClientInput::isFilter($filter)) {
            trigger_error("filter_input(): Unknown filter with ID $filter", E_USER_WARNING);

            return false;
        }

        return ClientInput::of($type, 'filter_input(): Argument #1 ($type)')->filtered($var_name, $filter, $options);
    }

    /**
     * All variables as the client sent them, by filters; null when there are none.
     *
     * @param array<string, mixed>|int $options
     *
     * @return array<int|string, mixed>|false|null
     */
    function filter_input_array(int $type, array|int $options = FILTER_DEFAULT, bool $add_empty = true): array|false|null
    {
        if (is_int($options) && !ClientInput::isFilter($options)) {
            trigger_error("filter_input_array(): Unknown filter with ID $options", E_USER_WARNING);

            return false;
        }

        return ClientInput::of($type, 'filter_input_array(): Argument #1 ($type)')->allFiltered($options, $add_empty);
    }
}

if (!function_exists('register_shutdown_function')) {
    /** The function runs at the end of the running request. */
    function register_shutdown_function(callable $callback, mixed ...$args): void
    {
        Shutdown::current()?->functions->add($callback, $args);
    }
}

if (!function_exists('session_write_close') && function_exists('session_commit')) {
    /**
     * As ever; and what PHP runs first when it ends: session_register_shutdown() registers the function of this name, and is the only way to
     * a shutdown function where register_shutdown_function() is disabled.
     */
    function session_write_close(): bool
    {
        if (!isset(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0]['file']) && Shutdown::current()?->begin() === true) {
            return true;
        }

        return session_commit();
    }
}

if (!function_exists('header_register_callback')) {
    /** The callback runs before the head of the running request's answer leaves. */
    function header_register_callback(callable $callback): bool
    {
        if (class_exists(PrintedAnswer::class, false)) {
            Worker::current()?->printed()->beforeHead($callback(...));
        }

        return true;
    }
}

if (!function_exists('ini_set')) {
    /** The setting is put back at the end of the running request: see ProcessState. */
    function ini_set(string $option, string|int|float|bool|null $value): string|false
    {
        if (class_exists(ProcessState::class, false)) {
            ProcessState::current()?->beforeChange($option);
        }
        $old = ini_alter($option, $value);
        if ($old !== false && $option === 'date.timezone') {
            // The setting alone has no effect once ProcessState has put a time zone back in place.
            date_default_timezone_set((string) ini_get($option));
        }

        return $old;
    }
}

if (!function_exists('mt_srand')) {
    /** The seed goes with the running request: see ProcessState. */
    function mt_srand(int $seed = 0, int $mode = MT_RAND_MT19937): void
    {
        if (class_exists(ProcessState::class, false)) {
            ProcessState::current()?->seeded();
        }
        func_num_args() === 0 ? srand() : srand($seed, $mode);
    }
}
