<?php

declare(strict_types=1);

/** Whether a worker grows: sends requests of every sort to a server with one worker, and looks at its size from time to time. */
final class Memory
{
    private const LOOKS = 10;

    /** @return string a row of figures: bytes that PHP's allocator has handed out, and private resident KiB of the worker */
    public static function measure(Server $server, string $title, int $requests): string
    {
        $socket = stream_socket_client('tcp://127.0.0.1:' . parse_url($server->url('/'), PHP_URL_PORT));
        $mix = self::mix();
        $used = $resident = [];
        for ($i = 0; $i <= $requests; $i++) {
            fwrite($socket, sprintf($mix[$i % count($mix)], $i % 1_000_000, $i % 10));
            $body = self::body($socket);
            if ($i > 0 && $i % intdiv($requests, self::LOOKS) === 0) {
                $used[] = (int) $body;
                $resident[] = self::residentKilobytes($server);
            }
        }
        return sprintf("| %s | %s | %s |\n", $title, self::curve($used), self::curve($resident));
    }

    /** @param list<int> $sizes */
    private static function curve(array $sizes): string
    {
        return implode(' ', array_map(static fn (int $size): string => number_format($size, 0, '.', ' '), [$sizes[0]]))
            . ', then ' . implode(' ', array_map(static fn (int $size): string => sprintf('%+d', $size - $sizes[0]), array_slice($sizes, 1)));
    }

    /** @return list<string> */
    private static function mix(): array
    {
        $withBody = static fn (string $type, string $body): string => "POST /?n=%1\$d HTTP/1.1\r\nHost: a\r\nContent-Type: $type\r\nContent-Length: "
            . strlen(sprintf($body, 0, 0)) . "\r\n\r\n$body";
        return [
            "GET /?n=%1\$d HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /some/path?n=%1\$d&a[]=1&a[]=2 HTTP/1.1\r\nHost: a\r\nCookie: a=%1\$d; b[x]=2\r\nX-Field-%2\$d: v\r\n\r\n",
            "GET /?n=%1\$d HTTP/1.1\r\nHost: a\r\nCookie: PHPSESSID=memory%2\$d\r\n\r\n",
            $withBody('application/x-www-form-urlencoded', 'field=value+%1$06d&other[key][]=%2$d'),
            $withBody('application/json', '{"number": "%1$06d"}'),
            $withBody('multipart/form-data; boundary=B', "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nfile %1\$06d\r\n"
                . "--B\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext %1\$06d\r\n--B--\r\n"),
        ];
    }

    /** @param resource $socket */
    private static function body($socket): string
    {
        $status = (string) fgets($socket);
        $length = 0;
        while (($line = rtrim((string) fgets($socket))) !== '') {
            if (stripos($line, 'content-length:') === 0) {
                $length = (int) substr($line, 15);
            }
        }
        $body = (string) stream_get_contents($socket, $length);
        return str_contains($status, ' 200 ') ? $body : throw new RuntimeException("$status$body");
    }

    private static function residentKilobytes(Server $server): int
    {
        $kilobytes = 0;
        foreach ($server->trees()[0]->pids() as $pid) {
            if (str_contains((string) file_get_contents("/proc/$pid/comm"), 'php')) {
                preg_match_all('/^Private_\w+:\s+(\d+)/m', (string) file_get_contents("/proc/$pid/smaps_rollup"), $match);
                $kilobytes += array_sum(array_map(intval(...), $match[1]));
            }
        }
        return $kilobytes;
    }
}
