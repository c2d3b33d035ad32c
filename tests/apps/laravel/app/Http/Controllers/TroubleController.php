<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Log;
use RuntimeException;

/**
 * Everything an application can do to the process it runs in.
 */
final class TroubleController
{
    public function exception(): never
    {
        throw new RuntimeException('this exception is part of the demo');
    }

    public function abort(int $status): never
    {
        abort($status);
    }

    public function fatal(): never
    {
        eval('final class DoesNotCount implements \Countable {}');
    }

    public function outOfMemory(): never
    {
        ini_set('memory_limit', '64M');
        for ($hog = [];;) {
            $hog[] = str_repeat('x', 1_048_576);
        }
    }

    public function exit(Request $request): never
    {
        http_response_code((int) $request->query('status', '200'));
        echo $request->query('text', 'goodbye');
        exit((int) $request->query('code', '0'));
    }

    public function dd(Request $request): never
    {
        dd(['query' => $request->query()]);
    }

    public function dump(Request $request): string
    {
        dump(['query' => $request->query()]);

        return 'after the dump';
    }

    public function echo(): string
    {
        echo 'printed by the controller, ';

        return 'returned by the controller';
    }

    public function slow(Request $request): string
    {
        usleep(1000 * max(0, (int) $request->query('ms', '100')));

        return 'done';
    }

    public function log(Request $request): Response
    {
        Log::info($request->query('text', 'a line from the demo'));

        return response('logged');
    }
}
