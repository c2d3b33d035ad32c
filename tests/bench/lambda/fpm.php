<?php

/* Rival (c): a PHP loop that forwards each event to php-fpm over FastCGI: `php fpm.php SCRIPT`. One child, on a Unix socket. */

declare(strict_types=1);

require __DIR__ . '/events.php';

$script = (string) realpath($argv[1]);
$directory = sys_get_temp_dir() . '/cetane-rival-' . getmypid();
mkdir($directory);
file_put_contents("$directory/fpm.conf", <<<CONF
    [global]
    error_log = /dev/null
    log_level = error
    daemonize = no
    [www]
    listen = $directory/sock
    pm = static
    pm.max_children = 1
    clear_env = no
    catch_workers_output = yes
    CONF);
$root = getmyuid() === 0 ? ['-R'] : [];
$fpm = proc_open(['php-fpm8.2', ...$root, '-F', '-y', "$directory/fpm.conf", '-d', 'opcache.enable=1'], [['file', '/dev/null', 'r'], STDERR, STDERR], $pipes);
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function () use ($fpm, $directory): void {
    proc_terminate($fpm);
    proc_close($fpm);
    array_map('unlink', glob("$directory/*"));
    @rmdir($directory);
    exit;
});
while (!file_exists("$directory/sock")) {
    usleep(1000);
}

$socket = null;
$record = static fn (int $type, string $content): string => pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content;
$read = static function (int $length) use (&$socket): string {
    $bytes = '';
    while (strlen($bytes) < $length) {
        $more = fread($socket, $length - strlen($bytes));
        if ($more === false || $more === '') {
            throw new RuntimeException('php-fpm has gone');
        }
        $bytes .= $more;
    }

    return $bytes;
};
$events = new Events();
while (true) {
    [$id, $event] = $events->next();
    $parameters = '';
    foreach (Events::server($event, $script) as $name => $value) {
        $lengths = array_map(static fn (string $text): string => strlen($text) < 128 ? chr(strlen($text)) : pack('N', strlen($text) | 0x80000000), [$name, $value]);
        $parameters .= implode('', $lengths) . $name . $value;
    }
    // Kept open: php-fpm takes one request after the other on it.
    $socket ??= stream_socket_client("unix://$directory/sock");
    $message = $record(1, pack('nCx5', 1, 1)) . $record(4, $parameters) . $record(4, '');
    foreach (str_split(Events::body($event), 65_000) as $piece) {
        $message .= $piece === '' ? '' : $record(5, $piece);
    }
    fwrite($socket, $message . $record(5, ''));
    $out = '';
    do {
        $head = unpack('Cversion/Ctype/nid/nlength/Cpadding', $read(8));
        $content = $head['length'] > 0 ? $read($head['length']) : '';
        $head['padding'] > 0 && $read($head['padding']);
        $out .= $head['type'] === 6 ? $content : '';
    } while ($head['type'] !== 3);
    [$lines, $body] = explode("\r\n\r\n", $out, 2) + [1 => ''];
    $headers = [];
    foreach (explode("\r\n", $lines) as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $headers[strtolower($name)][] = trim($value);
    }
    $status = (int) ($headers['status'][0] ?? 200);
    unset($headers['status']);
    $events->answer($id, $status, $headers, $body);
}
