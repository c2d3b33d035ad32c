<?php

declare(strict_types=1);

/** One run of wrk, and what it measured. */
final class Wrk
{
    private function __construct(
        public readonly float $p50,
        public readonly float $p99,
        public readonly float $perSecond,
        public readonly int $failed,
        public readonly int $requests,
    ) {
    }

    public static function run(string $url, int $connections, float $seconds, int $bodyBytes = 0, string $cookie = ''): self
    {
        $environment = $bodyBytes > 0 ? ['BENCH_METHOD' => 'POST', 'BENCH_BODY_BYTES' => (string) $bodyBytes] : [];
        if ($cookie !== '') {
            $environment['BENCH_COOKIE'] = $cookie;
        }
        $command = ['wrk', '-t1', "-c$connections", '-d' . max(1, (int) round($seconds)) . 's', '--timeout', '30s', '-s', __DIR__ . '/latency.lua', $url];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null, $environment + getenv());
        $output = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
        proc_close($process);
        if (preg_match('/RESULT p50=(\d+) p99=(\d+) requests=(\d+) micros=(\d+) failed=(\d+)/', $output, $m) !== 1) {
            throw new RuntimeException("wrk printed no result:\n$output");
        }
        return new self((float) $m[1], (float) $m[2], $m[3] / ($m[4] / 1e6), (int) $m[5], (int) $m[3]);
    }
}
