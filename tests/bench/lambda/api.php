<?php

/* The Runtime API of the benchmarks, for one program at a time: gives it events, takes its answers, and watches its processes. */

declare(strict_types=1);

/** One program on its API. */
final class Program
{
    private mixed $process;
    private mixed $server;
    private mixed $api = null;
    /** @var list<resource> connections of extensions, which ask once and wait */
    private array $extensions = [];
    private int $events = 0;

    /**
     * @param list<string> $command
     * @param array<string, string> $environment
     * @param string $temporary a directory that is empty at each start, as /tmp is on Lambda; '' for none
     * @param string $log file that gets what it prints
     */
    public function __construct(
        public readonly string $name,
        private readonly array $command,
        private readonly array $environment,
        private readonly string $temporary = '',
        private readonly string $log = '/dev/null',
    ) {
    }

    /** Starts it and gives it the event; returns milliseconds until its answer was there. */
    public function cold(string $event, string $cores): float
    {
        if ($this->temporary !== '') {
            shell_exec('rm -rf ' . escapeshellarg($this->temporary));
            mkdir($this->temporary, 0700, true);
        }
        $this->server = stream_socket_server('tcp://127.0.0.1:0') ?: exit(1);
        $environment = $this->environment + ($this->temporary === '' ? [] : ['TMPDIR' => $this->temporary]) + ['PATH' => getenv('PATH'), 'AWS_LAMBDA_RUNTIME_API' => stream_socket_get_name($this->server, false)];
        $begun = hrtime(true);
        $this->process = proc_open(['taskset', '-c', $cores, ...$this->command], [['file', '/dev/null', 'r'], ['file', $this->log, 'w'], STDERR], $pipes, null, $environment);
        $this->event($event);

        return (hrtime(true) - $begun) / 1e6;
    }

    /** Milliseconds from the event's last byte to the answer's last. */
    public function event(string $event): float
    {
        $this->api ??= stream_socket_accept($this->server, 60) ?: throw new RuntimeException("$this->name does not connect");
        while (str_contains($head = $this->message(), '/extension/register')) {
            fwrite($this->api, "HTTP/1.1 200 OK\r\nLambda-Extension-Identifier: bench\r\nContent-Length: 2\r\n\r\n{}");
            $this->extensions[] = $this->api;
            $this->api = stream_socket_accept($this->server, 60) ?: throw new RuntimeException("$this->name does not connect");
        }
        if (!str_contains($head, '/invocation/next')) {
            throw new RuntimeException("$this->name: no /next but $head");
        }
        $id = 'event-' . ++$this->events;
        $next = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nLambda-Runtime-Aws-Request-Id: $id\r\nLambda-Runtime-Deadline-Ms: " . (time() + 30) * 1000
            . "\r\nContent-Length: " . strlen($event) . "\r\n\r\n$event";
        $begun = hrtime(true);
        fwrite($this->api, $next);
        $head = $this->message();
        $time = (hrtime(true) - $begun) / 1e6;
        if (!str_contains($head, "/$id/response")) {
            throw new RuntimeException("$this->name: no answer but $head");
        }
        fwrite($this->api, "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}");

        return $time;
    }

    private function message(): string
    {
        $head = '';
        $length = 0;
        while (($line = fgets($this->api)) !== false && trim($line) !== '') {
            $head .= $line;
            if (stripos($line, 'content-length:') === 0) {
                $length = (int) substr($line, 15);
            }
        }
        $body = '';
        while (strlen($body) < $length && !feof($this->api)) {
            $body .= fread($this->api, $length - strlen($body));
        }
        if (str_contains($head, '/response') && !str_contains($body, '"statusCode":200')) {
            throw new RuntimeException("$this->name answers " . substr($body, 0, 500));
        }

        return $head;
    }

    /** CPU time of all its processes so far, milliseconds, and what they keep in memory, MiB: all (a page that several share is divided), the first. */
    public function cost(): array
    {
        $parents = [];
        foreach (glob('/proc/[0-9]*/stat') as $file) {
            $fields = explode(' ', (string) preg_replace('/^.*\) /', '', (string) @file_get_contents($file)));
            if (isset($fields[1])) {
                $parents[(int) explode('/', $file)[2]] = [(int) $fields[1], $fields];
            }
        }
        $pid = proc_get_status($this->process)['pid'];
        $mine = [$pid];
        for ($i = 0; $i < count($mine); $i++) {
            foreach ($parents as $child => [$parent]) {
                if ($parent === $mine[$i]) {
                    $mine[] = $child;
                }
            }
        }
        $cpu = $pss = 0.0;
        foreach ($mine as $one) {
            $fields = $parents[$one][1];
            $precise = 0.0;
            foreach (glob("/proc/$one/task/*/schedstat") as $task) {
                $precise += (float) @file_get_contents($task) / 1e6;
            }
            $cpu += max($precise, 10.0 * ((int) $fields[11] + (int) $fields[12])) + 10.0 * ((int) $fields[13] + (int) $fields[14]);
            preg_match('/^Pss:\s+(\d+)/m', (string) @file_get_contents("/proc/$one/smaps_rollup"), $m);
            $pss += (int) ($m[1] ?? 0) / 1024;
        }
        preg_match('/^VmRSS:\s+(\d+)/m', (string) file_get_contents("/proc/$pid/status"), $m);

        return [$cpu, $pss, (int) $m[1] / 1024];
    }

    public function end(): void
    {
        proc_terminate($this->process);
        is_resource($this->api) && fclose($this->api);
        array_map('fclose', $this->extensions);
        $this->extensions = [];
        proc_close($this->process);
        fclose($this->server);
        $this->api = null;
    }
}
