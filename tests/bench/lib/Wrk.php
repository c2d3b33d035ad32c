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

    public static function run(Server $server, Load $load, int $connections, float $seconds): self
    {
        $process = self::start($server, $load, $connections, $seconds, $pipes);
        $output = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
        proc_close($process);
        if (preg_match('/RESULT p50=(\d+) p99=(\d+) requests=(\d+) micros=(\d+) failed=(\d+)/', $output, $m) !== 1) {
            throw new RuntimeException("wrk printed no result:\n$output");
        }
        return new self((float) $m[1], (float) $m[2], $m[3] / ($m[4] / 1e6), (int) $m[5], (int) $m[3]);
    }

    /**
     * @param array<int, resource>|null $pipes what it prints
     * @return resource the process
     */
    public static function start(Server $server, Load $load, int $connections, float $seconds, ?array &$pipes = null)
    {
        $request = $server->directory . '/request';
        is_dir($request) || mkdir($request);
        file_put_contents("$request/headers", implode("\n", array_map(static fn (string $name, string $value): string => "$name: $value", array_keys($load->headers), $load->headers)));
        file_put_contents("$request/body", $load->body);
        $environment = ['BENCH_METHOD' => $load->method, 'BENCH_REQUEST' => $request];
        $command = ['wrk', '-t1', "-c$connections", '-d' . max(1, (int) round($seconds)) . 's', '--timeout', '30s', '-s', __DIR__ . '/latency.lua', $server->url($load->path)];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null, $environment + getenv());
        if ($process === false) {
            throw new RuntimeException('wrk cannot be started');
        }
        return $process;
    }
}
