<?php

declare(strict_types=1);

/** The time of a request that is not the worker's own handler time, request by request over one kept connection. */
final class OutsidePhp
{
    public static function measure(Cetane $server, string $path, int $requests): string
    {
        $server->start();
        try {
            $totals = self::requests($server->port, $path, $server->cookie($path), $requests);
            $handlers = self::handlers($server->outputLog(), $requests);
        } finally {
            $server->stop();
        }
        if (count($handlers) !== $requests) {
            return sprintf("### Time outside PHP\n\nNot measured: %d log lines with a handler time for %d requests.\n\n", count($handlers), $requests);
        }
        $outside = [];
        foreach ($totals as $i => $total) {
            $outside[] = $total - $handlers[$i];
        }
        sort($outside);
        sort($totals);
        sort($handlers);
        $at = static fn (array $sorted, float $share): float => $sorted[(int) (count($sorted) * $share)];
        return sprintf(
            "### Time outside PHP, %s, 1 connection, %d requests\n\n| | p50 µs | p99 µs |\n|---|---:|---:|\n| total, as the client sees it | %.0f | %.0f |\n| handler, as the worker reports it | %.0f | %.0f |\n| total minus handler, per request | %.0f | %.0f |\n\n",
            $path,
            $requests,
            $at($totals, 0.5),
            $at($totals, 0.99),
            $at($handlers, 0.5),
            $at($handlers, 0.99),
            $at($outside, 0.5),
            $at($outside, 0.99),
        );
    }

    /** @return list<float> microseconds per request */
    private static function requests(int $port, string $path, string $cookie, int $requests): array
    {
        $socket = stream_socket_client("tcp://127.0.0.1:$port", $errno, $error, 5);
        stream_set_read_buffer($socket, 0);
        $totals = [];
        for ($i = -500; $i < $requests; $i++) {
            $start = hrtime(true);
            fwrite($socket, "GET $path HTTP/1.1\r\nHost: localhost\r\nCookie: $cookie\r\n\r\n");
            $answer = '';
            do {
                $answer .= fread($socket, 65536);
                $head = strpos($answer, "\r\n\r\n");
                $whole = $head !== false && (preg_match('/content-length: (\d+)/i', $answer, $match) === 1
                    ? strlen($answer) >= $head + 4 + (int) $match[1]
                    : str_ends_with($answer, "0\r\n\r\n"));
            } while (!$whole && !feof($socket));
            if ($i >= 0) {
                $totals[] = (hrtime(true) - $start) / 1000;
            }
        }
        fclose($socket);
        return $totals;
    }

    /** @return list<float> microseconds, of the last requests in the log */
    private static function handlers(string $log, int $requests): array
    {
        // The line is written behind the answer: wait until the last line is there.
        for ($i = 0; $i < 100; $i++) {
            $handlers = [];
            foreach (file($log) ?: [] as $line) {
                $event = json_decode($line, true);
                if (($event['event'] ?? '') === 'http.phases') {
                    $handlers[] = (float) $event['fields']['handler_us'];
                }
            }
            if (count($handlers) >= $requests + 500) {
                break;
            }
            usleep(20_000);
        }
        return array_slice($handlers, -$requests);
    }
}
