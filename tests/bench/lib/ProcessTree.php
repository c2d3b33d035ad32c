<?php

declare(strict_types=1);

/** The processes below one process, read from /proc: their CPU time and memory. */
final class ProcessTree
{
    public function __construct(private readonly int $root)
    {
    }

    /** @return list<int> the root and all its descendants that are alive */
    public function pids(): array
    {
        $children = [];
        foreach (glob('/proc/[0-9]*/stat') ?: [] as $file) {
            $stat = @file_get_contents($file);
            if ($stat === false || !str_contains($stat, ')')) {
                continue;
            }
            $fields = explode(' ', substr($stat, strrpos($stat, ')') + 2));
            $children[(int) $fields[1]][] = (int) $stat;
        }
        $found = [$this->root];
        for ($i = 0; $i < count($found); $i++) {
            array_push($found, ...($children[$found[$i]] ?? []));
        }
        return $found;
    }

    /** CPU seconds of all processes, and of those among their children that have ended and been waited for. */
    public function cpuSeconds(): float
    {
        $ticks = 0;
        foreach ($this->pids() as $pid) {
            $stat = @file_get_contents("/proc/$pid/stat");
            if ($stat !== false && str_contains($stat, ')')) {
                $fields = explode(' ', substr($stat, strrpos($stat, ')') + 2));
                $ticks += array_sum(array_map('intval', array_slice($fields, 11, 4)));
            }
        }
        return $ticks / 100;
    }

    /** CPU seconds of the root's threads with this name, which the kernel cuts after 15 characters. */
    public function threadCpuSeconds(string $name): float
    {
        $nanoseconds = 0;
        foreach (glob("/proc/{$this->root}/task/*/comm") ?: [] as $file) {
            if (str_starts_with((string) @file_get_contents($file), $name)) {
                $nanoseconds += (int) @file_get_contents(dirname($file) . '/schedstat');
            }
        }
        return $nanoseconds / 1e9;
    }

    /** Proportional set size of all processes together, MiB: shared pages are counted once. */
    public function pssMegabytes(): float
    {
        $kilobytes = 0;
        foreach ($this->pids() as $pid) {
            $kilobytes += self::field("/proc/$pid/smaps_rollup", 'Pss');
        }
        return $kilobytes / 1024;
    }

    /** Resident set of the root alone, MiB; its highest value since start with `peak`. */
    public function rootRssMegabytes(bool $peak = false): float
    {
        return self::field("/proc/{$this->root}/status", $peak ? 'VmHWM' : 'VmRSS') / 1024;
    }

    private static function field(string $file, string $name): int
    {
        $text = (string) @file_get_contents($file);
        return preg_match("/^$name:\\s+(\\d+)/m", $text, $match) === 1 ? (int) $match[1] : 0;
    }
}
