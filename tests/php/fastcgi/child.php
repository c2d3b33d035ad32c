<?php

/*
 * The one child of a php-cgi that breaks FastCGI as the path of a request says. It answers the first request on each connection as
 * bin/cetane-probe.php does, unless FIRST_ANSWER says otherwise: none, or one with the id of another process.
 */

declare(strict_types=1);

function record(int $type, string $content, int $id = 1, int $version = 1): string
{
    return pack('CCnnCC', $version, $type, $id, strlen($content), 0, 0) . $content;
}

function finish(int $protocolStatus = 0): string
{
    return record(3, pack('NCx3', 0, $protocolStatus));
}

/** The whole of one request without a body; null at the end of the connection. */
function request(mixed $connection): ?string
{
    $params = '';
    while (true) {
        $header = stream_get_contents($connection, 8);
        if (strlen((string) $header) < 8) {
            return null;
        }
        ['type' => $type, 'length' => $length] = unpack('Cversion/Ctype/nid/nlength/Cpadding', $header);
        $content = $length > 0 ? stream_get_contents($connection, $length) : '';
        $params .= $type === 4 ? $content : '';
        if ($type === 4 && $length === 0) {
            return $params;
        }
    }
}

@unlink($argv[1]);
$listener = stream_socket_server('unix://' . $argv[1]);
while ($connection = @stream_socket_accept($listener, 3600)) {
    request($connection);
    $first = getenv('FIRST_ANSWER');
    if ($first === 'none') {
        sleep(3600);
    }
    $pid = $first === 'another process' ? 1 : getmypid();
    fwrite($connection, record(6, "Content-type: text/html\r\n\r\n\ncetane-probe\npid=$pid\nphp=0\nsapi=cgi-fcgi\n") . finish());
    while (($params = request($connection)) !== null) {
        preg_match('~REQUEST_URI/([a-z0-9-]+)~', $params, $match);
        $head = "Content-type: text/plain\r\n\r\n";
        fwrite($connection, match ($match[1] ?? '') {
            'pid' => record(6, $head . getmypid()) . finish(),
            'garbage' => "HTTP/1.1 200 OK\r\n\r\nhello",
            'version' => record(6, $head, 1, 2),
            'other-request' => record(6, $head, 7),
            'type' => record(9, 'what'),
            'long-end' => record(6, $head) . record(3, str_repeat("\0", 4096)),
            'refusal' => finish(2),
            'no-head' => record(6, 'Content-type: text/pl') . finish(),
            'long-head' => str_repeat(record(6, str_repeat('X: ' . str_repeat('y', 1000) . "\r\n", 60)), 10) . finish(),
            'garbage-after-head' => record(6, $head . 'hello') . 'garbage of more than eight bytes',
            'answers-twice' => record(6, $head . 'once') . finish() . record(6, $head . 'twice') . finish(),
            'folded' => record(6, "X-A: 1\r\n 2\r\n\r\n") . finish(),
            default => record(6, $head . 'well') . finish(),
        });
    }
}
