<?php

declare(strict_types=1);

/** A server under test, started in a directory of its own with a fixed number of PHP processes. */
abstract class Server
{
    public readonly int $port;
    public readonly string $directory;
    /** @var list<array{resource, int}> */
    private array $processes = [];

    public function __construct(public readonly string $name)
    {
        $this->port = self::freePort();
        $this->directory = sys_get_temp_dir() . "/cetane-bench-$name-" . getmypid() . '-' . $this->port;
        mkdir($this->directory, 0755, true);
    }

    protected static function freePort(): int
    {
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) substr(strrchr((string) stream_socket_get_name($probe, false), ':'), 1);
        fclose($probe);
        return $port;
    }

    abstract public function start(): void;

    /** @param list<string> $command */
    protected function spawn(array $command): int
    {
        $log = fopen($this->directory . '/output.log', 'ab');
        $process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], $log, $log],
            $pipes,
            $this->directory,
            ['DEMO_STORAGE' => $this->directory . '/storage'] + getenv(),
        );
        if ($process === false) {
            throw new RuntimeException("{$this->name}: cannot start " . implode(' ', $command));
        }
        $pid = proc_get_status($process)['pid'];
        $this->processes[] = [$process, $pid];
        return $pid;
    }

    protected function waitUntilServing(string $path): void
    {
        $deadline = microtime(true) + 60;
        $context = stream_context_create(['http' => ['timeout' => 20, 'ignore_errors' => true]]);
        do {
            $body = @file_get_contents($this->url($path), false, $context);
            if ($body !== false && str_contains($http_response_header[0] ?? '', ' 200')) {
                return;
            }
            usleep(50_000);
        } while (microtime(true) < $deadline);
        throw new RuntimeException("{$this->name} does not serve $path within 60 s; see {$this->directory}/output.log\n"
            . shell_exec('tail -n 20 ' . escapeshellarg($this->directory . '/output.log')) . ($http_response_header[0] ?? ''));
    }

    public function url(string $path): string
    {
        return "http://127.0.0.1:{$this->port}$path";
    }

    /** The cookies that the server sets, as a visitor sends them back; empty when it sets none. */
    public function cookie(string $path): string
    {
        @file_get_contents($this->url($path));
        $cookies = [];
        foreach ($http_response_header ?? [] as $line) {
            if (preg_match('/^set-cookie:\s*([^;]+)/i', $line, $match) === 1) {
                $cookies[] = $match[1];
            }
        }
        return implode('; ', $cookies);
    }

    /** The body of the answer to one request. */
    public function answer(Load $load): string
    {
        $headers = array_map(static fn (string $name, string $value): string => "$name: $value", array_keys($load->headers), $load->headers);
        $http = ['method' => $load->method, 'header' => $headers, 'content' => $load->body, 'ignore_errors' => true, 'timeout' => 20];
        return (string) file_get_contents($this->url($load->path), false, stream_context_create(['http' => $http]));
    }

    /** @return list<ProcessTree> one per process that was started */
    public function trees(): array
    {
        return array_map(static fn (array $process): ProcessTree => new ProcessTree($process[1]), $this->processes);
    }

    public function cpuSeconds(): float
    {
        return array_sum(array_map(static fn (ProcessTree $tree): float => $tree->cpuSeconds(), $this->trees()));
    }

    public function stop(): void
    {
        foreach ($this->processes as [$process, $pid]) {
            proc_terminate($process, SIGTERM);
        }
        foreach ($this->processes as [$process, $pid]) {
            proc_close($process);
        }
        $this->processes = [];
        exec('rm -rf ' . escapeshellarg($this->directory));
    }
}
