<?php

declare(strict_types=1);

/** Load over several connections while workers are killed; counts how each request ended. */
final class Chaos
{
    public int $answered = 0;
    /** @var array<string, int> */
    public array $failed = [];
    public int $hung = 0;
    public int $kills = 0;
    public float $slowest = 0;

    /** @param callable(): ?int $victim picks a worker's process */
    public function run(string $url, int $connections, float $seconds, float $killEvery, callable $victim, float $limit = 10): void
    {
        $multi = curl_multi_init();
        $end = microtime(true) + $seconds;
        $nextKill = microtime(true) + $killEvery;
        $started = [];
        $add = static function (?CurlHandle $handle) use ($multi, $url, $limit, &$started): void {
            $handle ??= curl_init();
            curl_setopt_array($handle, [CURLOPT_URL => $url, CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT_MS => (int) ($limit * 1000)]);
            $started[spl_object_id($handle)] = microtime(true);
            curl_multi_add_handle($multi, $handle);
        };
        for ($i = 0; $i < $connections; $i++) {
            $add(null);
        }
        $running = $connections;
        while ($running > 0) {
            curl_multi_exec($multi, $active);
            while ($done = curl_multi_info_read($multi)) {
                $handle = $done['handle'];
                $this->slowest = max($this->slowest, microtime(true) - $started[spl_object_id($handle)]);
                $status = (int) curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
                if ($done['result'] === CURLE_OPERATION_TIMEDOUT) {
                    $this->hung++;
                } elseif ($done['result'] !== CURLE_OK) {
                    $this->count('connection: ' . curl_strerror($done['result']));
                } elseif ($status !== 200) {
                    $this->count((string) $status);
                } else {
                    $this->answered++;
                }
                curl_multi_remove_handle($multi, $handle);
                if (microtime(true) < $end) {
                    $add($handle);
                } else {
                    $running--;
                }
            }
            if (microtime(true) >= $nextKill && microtime(true) < $end) {
                $nextKill += $killEvery;
                $pid = $victim();
                if ($pid !== null && posix_kill($pid, SIGKILL)) {
                    $this->kills++;
                }
            }
            curl_multi_select($multi, 0.01);
        }
    }

    private function count(string $kind): void
    {
        $this->failed[$kind] = ($this->failed[$kind] ?? 0) + 1;
    }
}
