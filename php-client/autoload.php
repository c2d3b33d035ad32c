<?php

/*
 * Makes the client available without Composer. An application's own copy, which Composer's autoloader finds first, takes precedence.
 * The supervisor also prepends this file to worker scripts; then it reports a script that ends before it has connected.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (strncmp($class, 'Cetane\\', 7) === 0) {
        $file = __DIR__ . '/src/' . strtr(substr($class, 7), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});

if ((string) ini_get('opcache.file_cache') !== '') {
    // Before anything else is loaded from there.
    Cetane\OpcacheFileCache::refuseForeign();
}

require_once __DIR__ . '/functions.php';

if (getenv('CETANE_OUT') !== false) {
    // Raw bytes, no classes: Composer's copy must still be the one that gets loaded.
    register_shutdown_function(static function (int $pid): void {
        $path = getenv('CETANE_OUT');
        if ($path === false || $pid !== getmypid()) {
            return; // connected since, or a forked child
        }
        $error = error_get_last();
        $message = $error['message'] ?? 'the script ended without calling Cetane\Worker::connect() or Cetane\Worker::run()';
        if ($error !== null && strncmp($message, 'Uncaught ', 9) !== 0) {
            $message .= " in {$error['file']} on line {$error['line']}"; // an uncaught exception names its place itself
        }
        foreach (@scandir('/proc/self/fd') ?: [] as $descriptor) {
            if (@readlink("/proc/self/fd/$descriptor") === $path) {
                return; // connected by other means than this client: the conversation is not ours to end
            }
        }
        // Not `wbe`: the supervisor deletes the FIFO of a worker that is ready, and a file must not take its place.
        // Where PHP was started before the supervisor, nothing would keep what is written: then wait for the supervisor.
        if (($out = @fopen($path, getenv('CETANE_BOOTED') === false ? 'r+be' : 'wbe')) === false) {
            return;
        }
        $message = substr((string) preg_replace('/[^\x20-\x7E\n]/', '?', $message), 0, 60_000);
        fwrite($out, "\xCE\x47\0\0" . pack('N', strlen($message) + 1) . "\0\0\0\0\x03" . $message);
        exit(1);
    }, getmypid());
}

if (getenv('FRANKENPHP_WORKER') === '1' && getenv('CETANE_IN') !== false) {
    // Such a script knows nothing of Cetane, so it has no copy of the client that would have to come first.
    Cetane\FrankenPhp::start();
}
