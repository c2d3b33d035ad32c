<?php

declare(strict_types=1);

/** Runs one load on several servers in turn, round after round, and holds the figures of each. */
final class Comparison
{
    /** Until the JIT compiler has done with what this load needs. */
    private const WARM_UP_SECONDS = 5;

    /** @var array<string, list<Wrk>> */
    private array $runs = [];
    /** @var array<string, list<float>> CPU microseconds per request */
    private array $cpu = [];

    /** @param list<Server> $servers running; the last one is ours */
    public function __construct(private readonly array $servers, private readonly int $rounds, private readonly float $seconds)
    {
    }

    public function load(string $path, int $connections, int $bodyBytes = 0): self
    {
        return $this->run($bodyBytes > 0 ? Load::body($path, $bodyBytes) : new Load($path), $connections);
    }

    public function run(Load $load, int $connections): self
    {
        $loads = [];
        $answers = [];
        foreach ($this->servers as $server) {
            // One visitor per server: without its cookie each request would begin a session and leave a file behind.
            $loads[$server->name] = isset($load->headers['Cookie']) ? $load : $load->with('Cookie', $server->cookie($load->path));
            $answers[$server->name] = $server->answer($loads[$server->name]);
            Wrk::run($server, $loads[$server->name], $connections, max(self::WARM_UP_SECONDS, $this->seconds));
        }
        if ($load->headers !== [] && count(array_unique($answers)) !== 1) {
            throw new RuntimeException("The servers do not do the same:\n" . print_r($answers, true));
        }
        for ($round = 0; $round < $this->rounds; $round++) {
            // Another server begins each round, so that none always runs on a machine that another has just heated.
            for ($i = 0; $i < count($this->servers); $i++) {
                $server = $this->servers[($i + $round) % count($this->servers)];
                $cpu = $server->cpuSeconds();
                $run = Wrk::run($server, $loads[$server->name], $connections, $this->seconds);
                $this->cpu[$server->name][] = ($server->cpuSeconds() - $cpu) * 1e6 / max(1, $run->requests);
                $this->runs[$server->name][] = $run;
            }
        }
        return $this;
    }

    public function markdown(string $title): string
    {
        $text = "### $title\n\n| server | p50 µs | p99 µs | requests/s | CPU µs/request | failed |\n|---|---:|---:|---:|---:|---:|\n";
        foreach ($this->servers as $server) {
            $runs = $this->runs[$server->name];
            $text .= sprintf(
                "| %s | %.0f | %.0f | %s | %.0f | %d |\n",
                $server->name,
                self::median(array_map(static fn (Wrk $run): float => $run->p50, $runs)),
                self::median(array_map(static fn (Wrk $run): float => $run->p99, $runs)),
                number_format(self::median(array_map(static fn (Wrk $run): float => $run->perSecond, $runs)), 0, '.', ' '),
                self::median($this->cpu[$server->name]),
                array_sum(array_map(static fn (Wrk $run): int => $run->failed, $runs)),
            );
        }
        $ours = $this->servers[count($this->servers) - 1]->name;
        foreach (array_slice($this->servers, 0, -1) as $rival) {
            $text .= "\n$ours / {$rival->name}: p50 " . $this->ratio($rival->name, $ours, static fn (Wrk $run): float => $run->p50)
                . ', p99 ' . $this->ratio($rival->name, $ours, static fn (Wrk $run): float => $run->p99)
                . ', throughput ' . $this->ratio($rival->name, $ours, static fn (Wrk $run): float => $run->perSecond) . "\n";
        }
        return $text . "\n";
    }

    /** The median of the rounds' ratios, with the lowest and the highest: a wide span says that the machine was noisy. */
    private function ratio(string $rival, string $ours, callable $figure): string
    {
        $ratios = [];
        foreach ($this->runs[$ours] as $round => $run) {
            $ratios[] = $figure($run) / max(1e-9, $figure($this->runs[$rival][$round]));
        }
        return sprintf('%.2f (%.2f … %.2f)', self::median($ratios), min($ratios), max($ratios));
    }

    /** @param list<float> $values */
    public static function median(array $values): float
    {
        sort($values);
        $count = count($values);
        return ($values[intdiv($count - 1, 2)] + $values[intdiv($count, 2)]) / 2;
    }
}
