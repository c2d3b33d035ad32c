<?php

declare(strict_types=1);

/** Operations on a shared table and tasks, timed by the PHP that waits for them. */
final class Sharing
{
    private const TIMES = 30_000;
    private const TASK_ROUNDS = 30;

    public static function measure(Cetane $server): string
    {
        $text = "### Shared table: rows of 100 bytes of text and two integers, timed in PHP\n\n"
            . "| operation | 1 worker p50 µs | p99 µs | a second | 2 workers p50 µs | p99 µs | a second, in total |\n|---|---:|---:|---:|---:|---:|---:|\n";
        foreach (['put', 'get', 'increment'] as $operation) {
            $text .= "| $operation";
            foreach ([1, 2] as $workers) {
                $url = $server->url("/?operation=$operation&times=" . self::TIMES);
                self::ask($url, $workers);
                $started = microtime(true);
                $seen = self::ask($url, $workers);
                $seconds = microtime(true) - $started;
                $text .= sprintf(
                    ' | %.1f | %.1f | %s',
                    max(array_column($seen, 'p50')) / 1000,
                    max(array_column($seen, 'p99')) / 1000,
                    number_format($workers * self::TIMES / $seconds, 0, '.', ' '),
                );
            }
            $text .= " |\n";
        }
        [$tasks] = self::ask($server->url('/?operation=tasks&times=' . self::TASK_ROUNDS), 1);

        return $text . sprintf(
            "\n### Two tasks of 100 ms at once, 2 task workers, %d times\n\np50 %.1f ms, slowest %.1f ms, as the PHP that waits sees it.\n\n",
            self::TASK_ROUNDS,
            $tasks['p50'] / 1e6,
            $tasks['max'] / 1e6,
        );
    }

    /** @return list<array<string, int>> of each of so many requests at the same time what it answered */
    private static function ask(string $url, int $requests): array
    {
        $multi = curl_multi_init();
        $handles = [];
        for ($i = 0; $i < $requests; $i++) {
            $handles[] = $handle = curl_init($url);
            curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60]);
            curl_multi_add_handle($multi, $handle);
        }
        do {
            curl_multi_exec($multi, $running);
            curl_multi_select($multi, 0.05);
        } while ($running > 0);

        return array_map(static fn (CurlHandle $handle): array => json_decode((string) curl_multi_getcontent($handle), true, 8, JSON_THROW_ON_ERROR), $handles);
    }
}
