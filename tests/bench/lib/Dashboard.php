<?php

declare(strict_types=1);

/**
 * What open dashboards cost: one load that goes on, and the events of some dashboards that are read for a while, then of none. The load's connections
 * stay as they are, so that nothing but the dashboards differs between two neighbours in time.
 */
final class Dashboard
{
    private const WARM_UP_SECONDS = 10;
    /** Between two turns: what opening or closing the dashboards has cost is no part of either. */
    private const SETTLE_SECONDS = 0.2;
    private const OPEN_SECONDS = 10;
    /** 97.5 % of the normal distribution: for the 95 % interval of a mean of many pairs. */
    private const Z = 1.96;

    public static function measure(Cetane $server, Load $load, int $connections, int $browsers, int $pairs, float $seconds): string
    {
        $turn = $seconds + self::SETTLE_SECONDS;
        $wrk = Wrk::start($server, $load, $connections, self::WARM_UP_SECONDS + 2 * $pairs * ($turn + 1));
        $perSecond = $cpu = $share = [[], []];
        try {
            self::read([], self::WARM_UP_SECONDS);
            for ($pair = 0; $pair < $pairs; $pair++) {
                foreach ($pair % 2 === 0 ? [0, 1] : [1, 0] as $open) {
                    $streams = $open === 1 ? self::open($server, $browsers) : [];
                    self::read($streams, self::SETTLE_SECONDS);
                    $before = self::figures($server);
                    self::read($streams, $seconds);
                    [$time, $requests, $all, $ops] = array_map(static fn (float $after, float $from): float => $after - $from, self::figures($server), $before);
                    $perSecond[$open][] = $requests / $time;
                    $cpu[$open][] = $all * 1e6 / max(1, $requests);
                    $share[$open][] = 100 * $ops / max(1e-9, $all);
                    array_map(fclose(...), $streams);
                }
            }
            if (!proc_get_status($wrk)['running']) {
                throw new RuntimeException('wrk has ended before the last turn');
            }
        } finally {
            proc_terminate($wrk);
            proc_close($wrk);
        }
        $text = "| dashboards | requests/s | CPU µs/request | of that the thread that serves them |\n|---|---:|---:|---:|\n";
        foreach ([0, 1] as $open) {
            $text .= sprintf("| %d | %s | %.1f | %.2f %% |\n", $open * $browsers, number_format(Comparison::median($perSecond[$open]), 0, '.', ' '), Comparison::median($cpu[$open]), Comparison::median($share[$open]));
        }
        return $text . "\nwith / without, $pairs pairs of turns: throughput " . self::ratio($perSecond) . ', CPU per request ' . self::ratio($cpu) . "\n\n";
    }

    /** @return array{float, float, float, float} seconds, requests, CPU seconds of all processes and of the thread that serves dashboards, each since some time */
    private static function figures(Cetane $server): array
    {
        $status = json_decode((string) file_get_contents($server->opsUrl('/status?json')), true, 512, JSON_THROW_ON_ERROR);
        return [microtime(true), (float) $status['accepted conn'], $server->cpuSeconds(), $server->trees()[0]->threadCpuSeconds('cetane-ops')];
    }

    /** @return list<resource> streams of events, each of which has begun, as of a browser that shows the page */
    private static function open(Cetane $server, int $count): array
    {
        $url = parse_url($server->opsUrl('/events'));
        $streams = [];
        for ($i = 0; $i < $count; $i++) {
            $stream = stream_socket_client("tcp://{$url['host']}:{$url['port']}", $code, $message, self::OPEN_SECONDS);
            if ($stream === false) {
                throw new RuntimeException("{$url['host']}:{$url['port']}: $message");
            }
            stream_set_timeout($stream, self::OPEN_SECONDS);
            fwrite($stream, "GET {$url['path']} HTTP/1.1\r\nHost: {$url['host']}:{$url['port']}\r\nAccept: text/event-stream\r\n\r\n");
            $streams[] = $stream;
        }
        foreach ($streams as $stream) {
            do {
                $line = fgets($stream);
                if ($line === false) {
                    throw new RuntimeException($server->opsUrl('/events') . ' sends no events');
                }
            } while (!str_contains($line, 'event: sample'));
            stream_set_blocking($stream, false);
        }
        return $streams;
    }

    /** @param list<resource> $streams of which all is read that comes */
    private static function read(array $streams, float $seconds): void
    {
        $end = microtime(true) + $seconds;
        while (($left = $end - microtime(true)) > 0) {
            if ($streams === []) {
                usleep((int) ($left * 1e6));
                continue;
            }
            $readable = $streams;
            $none = null;
            stream_select($readable, $none, $none, (int) $left, (int) (fmod($left, 1) * 1e6));
            foreach ($readable as $stream) {
                if (fread($stream, 1 << 16) === '' && feof($stream)) {
                    throw new RuntimeException('a dashboard was disconnected');
                }
            }
        }
    }

    /**
     * Geometric mean of the pairs' ratios with its 95 % interval.
     *
     * @param array{list<float>, list<float>} $figures without and with dashboards
     */
    private static function ratio(array $figures): string
    {
        $logarithms = array_map(static fn (float $without, float $with): float => log($with / max(1e-9, $without)), ...$figures);
        $count = count($logarithms);
        $mean = array_sum($logarithms) / $count;
        $variance = array_sum(array_map(static fn (float $one): float => ($one - $mean) ** 2, $logarithms)) / max(1, $count - 1);
        $margin = self::Z * sqrt($variance / $count);
        return sprintf('%.3f (95 %%: %.3f … %.3f)', exp($mean), exp($mean - $margin), exp($mean + $margin));
    }
}
