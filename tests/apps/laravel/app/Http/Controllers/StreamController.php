<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Generator;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\StreamedResponse;

/**
 * Answers that are not one string.
 */
final class StreamController
{
    private const BLOCK = 65_536;

    /**
     * `?lines=`, `?ms=` between them, each flushed at once.
     */
    public function stream(Request $request): StreamedResponse
    {
        $lines = min(1000, (int) $request->query('lines', '3'));
        $pause = min(10_000, (int) $request->query('ms', '0'));

        return response()->stream(static function () use ($lines, $pause): void {
            for ($line = 1; $line <= $lines; $line++) {
                echo "line $line\n";
                if (ob_get_level() > 0) {
                    ob_flush();
                }
                flush();
                usleep(1000 * $pause);
            }
        }, 200, ['Content-Type' => 'text/plain', 'X-Accel-Buffering' => 'no']);
    }

    /**
     * A callback that yields. Only servers that iterate it send a body; under php-fpm Laravel 8 answers with an empty one.
     */
    public function generator(Request $request): StreamedResponse
    {
        $pause = min(10_000, (int) $request->query('ms', '0'));

        return response()->stream(static function () use ($pause): Generator {
            foreach (['one', 'two', 'three'] as $word) {
                yield "$word\n";
                usleep(1000 * $pause);
            }
        }, 200, ['Content-Type' => 'text/plain']);
    }

    /**
     * `?mb=` mebibytes in blocks, never more than one block in memory.
     */
    public function big(Request $request): StreamedResponse
    {
        $blocks = 16 * min(4096, (int) $request->query('mb', '1'));

        return response()->stream(static function () use ($blocks): void {
            $block = str_repeat('0123456789abcdef', self::BLOCK / 16);
            while ($blocks-- > 0) {
                echo $block;
            }
        }, 200, ['Content-Type' => 'application/octet-stream']);
    }

    /**
     * A file of `?kb=` kibibytes; `?delete=1` makes one for this answer alone.
     */
    public function download(Request $request): BinaryFileResponse
    {
        $kilobytes = max(1, min(1_048_576, (int) $request->query('kb', '100')));
        $delete = $request->boolean('delete');
        $path = $delete ? tempnam(storage_path('app'), 'once') : storage_path("app/download-$kilobytes.bin");
        if ($delete || !is_file($path)) {
            $draft = tempnam(storage_path('app'), 'draft');
            $file = fopen($draft, 'wb');
            for ($block = 0; $block < $kilobytes; $block++) {
                fwrite($file, str_pad("block $block ", 1023, '.') . "\n");
            }
            fclose($file);
            rename($draft, $path);
        }

        return response()->download($path, 'cetane.bin')->deleteFileAfterSend($delete);
    }
}
