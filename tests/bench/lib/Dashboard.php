<?php

declare(strict_types=1);

/** What open dashboards cost: the same load on the same server with the events of some of them being read, and without, in turn. */
final class Dashboard
{
    private const WARM_UP_SECONDS = 10;

    public static function measure(Cetane $server, Load $load, int $connections, int $browsers, int $rounds, float $seconds): string
    {
        Wrk::run($server, $load, $connections, self::WARM_UP_SECONDS);
        $perSecond = $cpu = $share = [[], []];
        $tree = $server->trees()[0];
        for ($round = 0; $round < $rounds; $round++) {
            foreach ($round % 2 === 0 ? [0, 1] : [1, 0] as $open) {
                $readers = $open === 1 ? self::open($server, $browsers) : [];
                try {
                    $before = [$server->cpuSeconds(), $tree->threadCpuSeconds('cetane-ops')];
                    $run = Wrk::run($server, $load, $connections, $seconds);
                    $used = $server->cpuSeconds() - $before[0];
                    $perSecond[$open][] = $run->perSecond;
                    $cpu[$open][] = $used * 1e6 / max(1, $run->requests);
                    $share[$open][] = 100 * ($tree->threadCpuSeconds('cetane-ops') - $before[1]) / max(1e-9, $used);
                } finally {
                    self::close($readers);
                }
            }
        }
        $text = "| dashboards | requests/s | CPU µs/request | of that the thread that serves them |\n|---|---:|---:|---:|\n";
        foreach ([0, 1] as $open) {
            $text .= sprintf("| %d | %s | %.1f | %.2f %% |\n", $open * $browsers, number_format(Comparison::median($perSecond[$open]), 0, '.', ' '), Comparison::median($cpu[$open]), Comparison::median($share[$open]));
        }
        return $text . "\nwith / without: throughput " . self::ratio($perSecond) . ', CPU per request ' . self::ratio($cpu) . "\n\n";
    }

    /** @return list<resource> processes that read a stream of events each, as a browser's page does */
    private static function open(Cetane $server, int $count): array
    {
        $readers = [];
        for ($i = 0; $i < $count; $i++) {
            $events = $server->directory . "/events-$i";
            $readers[] = $process = proc_open(['curl', '-sSN', '-o', $events, $server->opsUrl('/events')], [['file', '/dev/null', 'r'], STDERR, STDERR], $pipes);
            if ($process === false) {
                throw new RuntimeException('curl cannot be started');
            }
        }
        $deadline = microtime(true) + 10;
        for ($i = 0; $i < $count; $i++) {
            while (!str_starts_with((string) @file_get_contents($server->directory . "/events-$i"), 'event: sample')) {
                if (microtime(true) > $deadline) {
                    throw new RuntimeException($server->opsUrl('/events') . ' sends no events');
                }
                usleep(20_000);
            }
        }
        return $readers;
    }

    /** @param list<resource> $readers */
    private static function close(array $readers): void
    {
        foreach ($readers as $reader) {
            proc_terminate($reader);
        }
        foreach ($readers as $reader) {
            proc_close($reader);
        }
    }

    /**
     * Median of the rounds' ratios, with the lowest and the highest.
     *
     * @param array{list<float>, list<float>} $figures without and with dashboards
     */
    private static function ratio(array $figures): string
    {
        $ratios = array_map(static fn (float $without, float $with): float => $with / max(1e-9, $without), ...$figures);
        return sprintf('%.3f (%.3f … %.3f)', Comparison::median($ratios), min($ratios), max($ratios));
    }
}
