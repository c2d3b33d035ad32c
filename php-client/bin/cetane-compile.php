<?php

/*
 * Compiles the files whose paths are on standard input, each ended by a NUL, into opcache's file cache, runs none of them, and leaves beside
 * what was compiled which PHP has made it. Before each file it prints a byte 1 and the file's number from 0: what PHP says then, or its death,
 * is about this file. That needs `output_buffering=0`. Functions are disabled here as they are in a worker: what the compiler knows must be the same.
 *
 * opcache keeps the functions that a file declares, so a second file that declares one of the same name fails: the caller tries it again in
 * another process.
 */

declare(strict_types=1);

require_once __DIR__ . '/../src/OpcacheFileCache.php';

$cache = (string) ini_get('opcache.file_cache');
if (!function_exists('opcache_compile_file') || $cache === '') {
    echo 'opcache is not loaded, or cannot write to its file cache';
    exit(1);
}
file_put_contents($cache . '/' . Cetane\OpcacheFileCache::MAKER, Cetane\OpcacheFileCache::maker());
$files = (string) stream_get_contents(fopen('php://stdin', 'rb'));
foreach (explode("\0", rtrim($files, "\0")) as $number => $file) {
    echo "\1$number\n";
    try {
        @opcache_compile_file($file);
    } catch (Throwable $problem) {
        echo $problem->getMessage(), ' on line ', $problem->getLine(), "\n";
    }
}
