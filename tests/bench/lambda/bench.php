<?php

/*
 * `php tests/bench/lambda/bench.php LAYER [EVENTS] [STARTS] [APPLICATION]` gives the same events of an HTTP API to Cetane, as the layer that build-layer has made, and to
 * three rivals, in turns: (a) the floor, a bare PHP loop that looks at nothing; (b) a PHP loop that makes PHP's variables of the event and calls the handler
 * in process; (c) a PHP loop that forwards to php-fpm. Hello world, and a page of the demo Laravel application (view, session, one query).
 *
 * Besides, cold only, the demo as it is deployed: its directory cannot be written, and /tmp is empty at each start; as it is, and after `cetane
 * warm`, for Cetane and for (b), which then has the same caches, a file cache of opcache of its own, and the same code that moves what is written to /tmp.
 *
 * Warm: from the event's last byte sent to the answer's last byte received; and in a run of its own, with metrics on, what Cetane says of its phases.
 * Cold: from the start of the process to the first answer, with two cores and with one; wall-clock time, and CPU time of all processes. Nothing else should
 * run on the machine. Root starts it, for read-only mounts, in a mount namespace of its own.
 */

declare(strict_types=1);

require __DIR__ . '/api.php';

if (!isset($argv[1])) {
    fwrite(STDERR, "usage: php bench.php LAYER [EVENTS] [STARTS] [hello | laravel | deployed]; core/target/cetane/share/lambda/build-layer LAYER makes one\n");
    exit(2);
}
if (getenv('BENCH_NAMESPACE') === false) {
    putenv('BENCH_NAMESPACE=1');
    passthru('exec unshare --mount ' . implode(' ', array_map('escapeshellarg', [PHP_BINARY, ...$argv])), $code);
    exit($code);
}
$layer = (string) realpath($argv[1]);
$events = (int) ($argv[2] ?? 2000);
$starts = (int) ($argv[3] ?? 10);
$laravel = dirname(__DIR__, 2) . '/apps/laravel';
$storage = sys_get_temp_dir() . '/cetane-bench-' . getmypid();
$php = ['php', '-d', 'opcache.enable_cli=1', '-d', 'opcache.file_update_protection=0'];

$event = static fn (string $path): string => (string) json_encode([
    'version' => '2.0', 'rawPath' => $path, 'rawQueryString' => '', 'headers' => ['host' => 'shop.test', 'accept' => '*/*', 'user-agent' => 'bench', 'x-forwarded-proto' => 'https'],
    'requestContext' => ['http' => ['method' => 'GET', 'path' => $path, 'protocol' => 'HTTP/1.1', 'sourceIp' => '192.0.2.1'], 'stage' => '$default'],
    'isBase64Encoded' => false,
]);
$demo = static function (string $name) use ($storage): array {
    is_dir("$storage/$name") || mkdir("$storage/$name", 0700, true);

    return ['DEMO_STORAGE' => "$storage/$name"];
};
$cetane = static fn (string $root, string $handler): array => ['LAMBDA_TASK_ROOT' => $root, '_HANDLER' => $handler, 'CETANE_LOG_LEVEL' => 'warn'];
$own = ['hello' => $cetane(__DIR__, 'hello.php'), 'laravel' => $demo('cetane') + $cetane($laravel, '.')];
$programs = [
    'hello' => [
        new Program('(a) floor', [...$php, __DIR__ . '/floor.php'], []),
        new Program('(b) loop in process', [...$php, __DIR__ . '/loop.php', 'hello'], []),
        new Program('(c) loop to php-fpm', [...$php, __DIR__ . '/fpm.php', __DIR__ . '/hello-fpm.php'], []),
        new Program('cetane lambda', ["$layer/bootstrap"], $own['hello']),
    ],
    'laravel' => [
        new Program('(b) loop in process', [...$php, __DIR__ . '/loop.php', 'laravel', $laravel], $demo('loop')),
        // As Cetane does it where nothing was compiled ahead.
        new Program('(b), no optimizer', [...$php, '-d', 'opcache.optimization_level=0', __DIR__ . '/loop.php', 'laravel', $laravel], $demo('plain-loop')),
        new Program('(c) loop to php-fpm', [...$php, __DIR__ . '/fpm.php', "$laravel/public/index.php"], $demo('fpm')),
        new Program('cetane lambda', ["$layer/bootstrap"], $own['laravel']),
    ],
];
$paths = ['hello' => '/', 'laravel' => '/bench', 'deployed' => '/bench'];
$run = static function (string $command): void {
    passthru($command, $code) !== false && $code === 0 || exit("$command failed\n");
};
$deploy = static function (string $name) use ($laravel, $storage, $run): string {
    $task = "$storage/$name";
    $run("mkdir -p $task/bootstrap/cache $task/storage/app/public $task/storage/framework/views $task/storage/framework/sessions");
    $run("cd $laravel && cp -rL app artisan config public resources routes vendor $task && cp ../lambda-laravel/app.php $task/bootstrap/");
    // What Composer's scripts make.
    $run("cd $task && CACHE_DRIVER=array php artisan package:discover >/dev/null");

    return $task;
};
$readOnly = static fn (string $task) => $run("mount --bind $task $task && mount -o remount,bind,ro $task");
$deployed = [];
if (!isset($programs[$argv[4] ?? ''])) {
    $deployed = [$cold, $warm] = [$deploy('cold'), $deploy('warm')];
    $run("LAMBDA_TASK_ROOT=$warm CACHE_DRIVER=array $layer/cetane/bin/cetane warm $warm -n 15 --set lambda.warm-request=/bench");
    array_map($readOnly, $deployed);
    mkdir("$storage/opcache");
    $compiled = ['-d', "opcache.file_cache=$storage/opcache", '-d', 'opcache.validate_timestamps=0', '-d', 'opcache.file_cache_consistency_checks=0'];
    $array = ['CACHE_DRIVER' => 'array'];
    $programs['deployed'] = [
        new Program('(b)', [...$php, __DIR__ . '/loop.php', 'laravel', $cold], $array, "$storage/tmp"),
        new Program('(b), warmed', [...$php, ...$compiled, __DIR__ . '/loop.php', 'laravel', $warm], $array, "$storage/tmp"),
        new Program('cetane lambda', ["$layer/bootstrap"], $array + $cetane($cold, '.'), "$storage/tmp"),
        new Program('cetane lambda, warmed', ["$layer/bootstrap"], $array + $cetane($warm, '.'), "$storage/tmp"),
    ];
}
$middle = static function (array $all, float $part): float {
    sort($all);

    return $all[min(count($all) - 1, (int) (count($all) * $part))];
};
// What Cetane itself says of as many invocations, after as many to warm up as the others had.
$phases = static function (Program $program, string $log, string $text, int $events) use ($middle): void {
    $program->cold($text, '0,1');
    $times = [];
    for ($i = 0; $i < $events * 5 / 4; $i++) {
        $times[] = $program->event($text);
    }
    $program->end();
    $lines = array_map(static fn (string $line): array => json_decode($line, true), array_filter(file($log), static fn (string $line): bool => str_starts_with($line, '{"_aws"')));
    $warm = array_slice($lines, -$events);
    echo '  phases, p50 (ms):';
    foreach (['Fetch', 'Convert', 'Queue', 'Php', 'Handler', 'Encode', 'Send'] as $phase) {
        printf($phase === 'Handler' ? ' (handler %.3f)' : ' %2$s %1$.3f', $middle(array_column($warm, $phase), 0.5), strtolower($phase));
    }
    $over = array_map(static fn (array $line): float => $line['Fetch'] + $line['Convert'] + $line['Queue'] + $line['Php'] - $line['Handler'] + $line['Encode'], $warm);
    printf("; over the handler, until the answer leaves, %.3f of %.3f\n", $middle($over, 0.5), $middle(array_slice($times, -$events), 0.5));
};

preg_match('/^model name\s*:\s*(.*)$/m', (string) file_get_contents('/proc/cpuinfo'), $cpu);
preg_match('/JAVA_VERSION="(.*)"/', (string) @file_get_contents("$layer/cetane/runtime/release"), $java);
printf("CPU %s, PHP %s, Java %s\n", $cpu[1] ?? 'unknown', PHP_VERSION, $java[1] ?? 'of PATH');
foreach (array_intersect_key($programs, [$argv[4] ?? '' => 1]) ?: $programs as $application => $rivals) {
    $text = $event($paths[$application]);
    if ($application === 'deployed') {
        // Fills the file cache of (b).
        $rivals[1]->cold($text, '0,1');
        $rivals[1]->end();
    } else {
        echo "\n$application, warm, $events events each, in turns: p50, p99 (ms); memory of all processes, of the first (MiB)\n";
        $times = array_fill(0, count($rivals), []);
        foreach ($rivals as $rival) {
            $rival->cold($text, '0,1');
            for ($i = 0; $i < $events / 4; $i++) {
                $rival->event($text);
            }
        }
        foreach ([false, true, true, false] as $backwards) {
            $order = array_keys($rivals);
            foreach ($backwards ? array_reverse($order) : $order as $n) {
                for ($i = 0; $i < $events / 4; $i++) {
                    $times[$n][] = $rivals[$n]->event($text);
                }
            }
        }
        foreach ($rivals as $n => $rival) {
            [, $pss, $first] = $rival->cost();
            printf("  %-22s %7.3f %7.3f   %5.0f %5.0f\n", $rival->name, $middle($times[$n], 0.5), $middle($times[$n], 0.99), $pss, $first);
            $rival->end();
        }
        $phases(new Program('phases', ["$layer/bootstrap"], ['CETANE_LAMBDA_METRICS' => 'sampled'] + $own[$application], '', "$storage/log"), "$storage/log", $text, $events);
    }
    foreach (['0,1' => 'two cores', '0' => 'one core'] as $cores => $said) {
        echo "$application, cold, $said, $starts starts each, in turns: wall (median, least), CPU of all processes (median); ms\n";
        $walls = $cpus = array_fill(0, count($rivals), []);
        for ($i = 0; $i < $starts; $i++) {
            $order = array_keys($rivals);
            foreach ($i % 2 ? array_reverse($order) : $order as $n) {
                $walls[$n][] = $rivals[$n]->cold($text, (string) $cores);
                $cpus[$n][] = $rivals[$n]->cost()[0];
                $rivals[$n]->end();
            }
        }
        foreach ($rivals as $n => $rival) {
            printf("  %-22s %7.0f %7.0f %7.0f\n", $rival->name, $middle($walls[$n], 0.5), min($walls[$n]), $middle($cpus[$n], 0.5));
        }
    }
}
array_map(static fn (string $task) => $run("umount $task"), $deployed);
(static function (string $directory): void {
    $files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($directory, FilesystemIterator::SKIP_DOTS), RecursiveIteratorIterator::CHILD_FIRST);
    foreach ($files as $file) {
        $file->isDir() ? rmdir((string) $file) : unlink((string) $file);
    }
    rmdir($directory);
})($storage);
