<?php

declare(strict_types=1);

// Runs the rival beside Cetane on this machine, interleaved, and prints Markdown. See README.md beside this file.

spl_autoload_register(static function (string $class): void {
    require __DIR__ . "/lib/$class.php";
});

$options = getopt('', ['rounds:', 'seconds:', 'only:', 'chaos-seconds:', 'memory-requests:', 'help']);
if (isset($options['help'])) {
    echo "bash tests/bench/run [--rounds=5] [--seconds=4] [--only=hello,laravel,octane,classic,form,uploads,cookies,headers,megabyte,gigabyte,sharing,dashboard,idle,memory,chaos] [--chaos-seconds=30] [--memory-requests=100000]\n";
    exit(0);
}
$rounds = (int) ($options['rounds'] ?? 5);
$seconds = (float) ($options['seconds'] ?? 4);
$only = isset($options['only']) ? explode(',', $options['only']) : ['hello', 'laravel', 'octane', 'classic', 'form', 'uploads', 'cookies', 'headers', 'megabyte', 'gigabyte', 'sharing', 'dashboard', 'idle', 'memory', 'chaos'];
$apps = __DIR__ . '/apps';
$laravel = dirname(__DIR__) . '/apps/laravel';

/** @param list<Server> $servers */
function withServers(array $servers, callable $use): void
{
    try {
        foreach ($servers as $server) {
            $server->start();
        }
        $use($servers);
    } finally {
        foreach ($servers as $server) {
            $server->stop();
        }
    }
}

function cpuModel(): string
{
    preg_match('/^model name\s*:\s*(.*)$/m', (string) file_get_contents('/proc/cpuinfo'), $match);
    return ($match[1] ?? 'unknown') . ', ' . trim((string) shell_exec('nproc')) . ' cores';
}

$line = static fn (string $command): string => trim((string) strtok((string) shell_exec($command), "\n"));
printf("CPU: %s\n\n", cpuModel());
printf("Linux %s · %s · PHP %s · %s · %s\n\n", php_uname('r'), $line('java -version 2>&1'), PHP_VERSION, $line('nginx -v 2>&1'), $line('wrk -v 2>&1'));
printf("%d rounds of %.0f s after one warm-up each, the servers in turn; medians over rounds, ratios per round (lowest … highest).\n\n", $rounds, $seconds);

if (in_array('hello', $only, true)) {
    $public = "$apps/hello/public";
    withServers(
        [new Fpm($public, 2, true), new Fpm($public, 2, false), new Cetane("$apps/hello", 2)],
        static function (array $servers) use ($rounds, $seconds): void {
            echo (new Comparison($servers, $rounds, $seconds))->load('/', 1)->markdown('Hello world, front controller, 2 PHP processes, 1 connection');
            echo (new Comparison($servers, $rounds, $seconds))->load('/', 16)->markdown('Hello world, front controller, 2 PHP processes, 16 connections');
        },
    );
}
if (in_array('laravel', $only, true)) {
    withServers(
        [new Fpm("$laravel/public", 2, true, '/bench'), new Fpm("$laravel/public", 2, false, '/bench'), new Cetane($laravel, 2, '/bench')],
        static function (array $servers) use ($rounds, $seconds): void {
            echo (new Comparison($servers, $rounds, $seconds))->load('/bench', 1)->markdown('Laravel page (view, session, one sqlite query), 2 PHP processes, 1 connection');
            echo (new Comparison($servers, $rounds, $seconds))->load('/bench', 8)->markdown('Laravel page, 2 PHP processes, 8 connections');
        },
    );
    echo OutsidePhp::measure(new Cetane($laravel, 2, '/bench', [], 'debug'), '/bench', 3000);
}
if (in_array('octane', $only, true)) {
    // The look-alike of laravel/octane, or the real one.
    $settings = getenv('OCTANE_SOURCE') === false ? [] : ['app.environment.OCTANE_SOURCE=' . getenv('OCTANE_SOURCE')];
    echo "Under Octane's worker:\n\n" . OutsidePhp::measure(new Cetane(dirname($laravel) . '/octane', 2, '/bench', $settings, 'debug'), '/bench', 3000);
}
if (in_array('classic', $only, true)) {
    // Each request in a PHP that starts anew, as with php-fpm: what differs is who stands in front of it.
    foreach (['hello' => [['Hello world', new Load('/')]], 'request' => [['Form of 20 fields', Load::form('/', 20)], ['60 header fields', Load::headers('/', 60)]]] as $app => $loads) {
        $public = "$apps/$app/public";
        withServers(
            [new Fpm($public, 2, true), new Fpm($public, 2, false), new Cetane("$apps/$app", 2, '/', ['app.kind=classic'])],
            static function (array $servers) use ($rounds, $seconds, $loads): void {
                foreach ($loads as [$title, $load]) {
                    foreach ([1, 16] as $connections) {
                        echo (new Comparison($servers, $rounds, $seconds))->run($load, $connections)->markdown("$title, classic application, 2 PHP processes, $connections connection(s)");
                    }
                }
            },
        );
    }
}
$requests = array_intersect_key([
    'form' => ['Form of 20 fields', Load::form('/', 20)],
    'uploads' => ['Multipart of three files of 100 kB', Load::uploads('/', 3, 100_000)],
    'cookies' => ['30 cookies', Load::cookies('/', 30)],
    'headers' => ['60 header fields', Load::headers('/', 60)],
], array_flip($only));
if ($requests !== []) {
    withServers(
        [new Fpm("$apps/request/public", 2, true), new Fpm("$apps/request/public", 2, false), new Cetane("$apps/request", 2)],
        static function (array $servers) use ($rounds, $seconds, $requests): void {
            foreach ($requests as [, $load]) {
                Wrk::run($servers[2], $load, 4, 10); // the JIT compiler is still busy with the first loads when it gets the last ones
            }
            foreach ($requests as [$title, $load]) {
                echo (new Comparison($servers, $rounds, $seconds))->run($load, 1)->markdown("$title, 2 PHP processes, 1 connection");
            }
        },
    );
}
if (in_array('megabyte', $only, true)) {
    $public = "$apps/hello/public";
    withServers(
        [new Fpm($public, 2, true), new Fpm($public, 2, false), new Cetane("$apps/hello", 2, '/', ['http.max-body=2GiB'])],
        static function (array $servers) use ($rounds, $seconds): void {
            foreach ([1, 4] as $connections) {
                echo (new Comparison($servers, $rounds, $seconds))->load('/', $connections, 1048576)->markdown("1 MiB POST, $connections connection(s)");
                echo (new Comparison($servers, $rounds, $seconds))->load('/?bytes=1048576', $connections)->markdown("1 MiB answer, $connections connection(s)");
            }
        },
    );
}
if (in_array('gigabyte', $only, true)) {
    withServers([new Cetane("$apps/hello", 2, '/', ['http.max-body=2GiB', 'pool.request-timeout=120s'])], static function (array $servers): void {
        $tree = $servers[0]->trees()[0];
        $before = $tree->rootRssMegabytes();
        $url = escapeshellarg($servers[0]->url('/?bytes=1073741824&flush=1'));
        $got = trim((string) shell_exec("curl -sS $url | wc -c"));
        $download = $tree->rootRssMegabytes(true);
        $url = escapeshellarg($servers[0]->url('/'));
        $sent = trim((string) shell_exec("head -c 1073741824 /dev/zero | curl -sS -H 'Expect:' -T - -X POST $url"));
        printf("### 1 GiB\n\n| | bytes that arrived | supervisor RSS, MiB |\n|---|---:|---:|\n| before | | %.0f |\n| 1 GiB answer | %s | %.0f (peak) |\n| 1 GiB upload, chunked | %s | %.0f (peak) |\n\n", $before, $got, $download, $sent, $tree->rootRssMegabytes(true));
    });
}
if (in_array('idle', $only, true)) {
    withServers([new Cetane("$apps/hello", 2)], static function (array $servers): void {
        $tree = $servers[0]->trees()[0];
        sleep(5);
        $cpu = $servers[0]->cpuSeconds();
        $rss = $tree->rootRssMegabytes();
        sleep(20);
        printf("### At rest\n\nSupervisor RSS 5 s after start %.0f MiB, 25 s after start %.0f MiB; all processes together (PSS) %.0f MiB; CPU used in 20 s of rest: %.2f s (supervisor and workers).\n\n", $rss, $tree->rootRssMegabytes(), $tree->pssMegabytes(), $servers[0]->cpuSeconds() - $cpu);
    });
}
if (in_array('sharing', $only, true)) {
    withServers([new Cetane("$apps/sharing/worker.php", 2, '/', ['pool.task-workers=2'])], static function (array $servers): void {
        echo Sharing::measure($servers[0]);
    });
}
if (in_array('dashboard', $only, true)) {
    withServers([new Cetane("$apps/hello", 2)], static function (array $servers) use ($rounds, $seconds): void {
        // More rounds: what is looked for is far smaller than the noise of one.
        echo "### Hello world, 16 connections, 10 dashboards open\n\n" . Dashboard::measure($servers[0], new Load('/'), 16, 10, 10 * $rounds, $seconds);
    });
}
if (in_array('memory', $only, true)) {
    $requests = (int) ($options['memory-requests'] ?? 100_000);
    printf("### Memory of a worker while it serves %d requests, looked at ten times\n\n| application | bytes in PHP's allocator | private resident KiB |\n|---|---|---|\n", $requests);
    $memory = dirname(__DIR__) . '/apps/memory';
    foreach (['front controller' => $memory, 'worker script' => "$memory/worker.php", 'worker script for FrankenPHP' => "$memory/frankenphp.php"] as $title => $app) {
        $settings = ['app.ini.session.gc_probability=0', 'app.environment.USE_ZEND_ALLOC_HUGE_PAGES=0'];
        withServers([new Cetane($app, 1, '/', $settings)], static function (array $servers) use ($title, $requests): void {
            echo Memory::measure($servers[0], $title, $requests);
        });
    }
    echo "\n";
}
if (in_array('chaos', $only, true)) {
    withServers([new Cetane("$apps/hello", 2, '/', [], 'error')], static function (array $servers) use ($options): void {
        $server = $servers[0];
        $length = (float) ($options['chaos-seconds'] ?? 30);
        $chaos = new Chaos();
        // Requests that take a while: picking the victim takes longer than a hello world, and would find every worker idle.
        $chaos->run($server->url('/?sleep=20'), 8, $length, 0.1, static function () use ($server): ?int {
            $workers = array_slice($server->trees()[0]->pids(), 1);
            $workers = array_values(array_filter($workers, static fn (int $pid): bool => str_contains((string) @file_get_contents("/proc/$pid/cmdline"), 'php')));
            return $workers === [] ? null : $workers[array_rand($workers)];
        });
        ksort($chaos->failed);
        printf("### kill -9 of a random worker every 100 ms for %.0f s, 8 connections\n\n%d kills, %d answered, %d hung, failed: %s; slowest %.0f ms. At most one request runs on a killed worker, so failures must not exceed kills.\n\n", $length, $chaos->kills, $chaos->answered, $chaos->hung, json_encode($chaos->failed), $chaos->slowest * 1000);
    });
}
