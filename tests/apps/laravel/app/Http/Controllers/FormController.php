<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;

/**
 * Gives back what was sent.
 */
final class FormController
{
    public function form(Request $request): JsonResponse
    {
        return response()->json([
            'method' => $request->method(),
            'query' => $request->query(),
            'input' => $request->post() ?: $request->json()->all(),
            'cookies' => array_keys($request->cookies->all()),
            'bytes' => strlen($request->getContent()),
        ]);
    }

    public function upload(Request $request): JsonResponse
    {
        return response()->json(['input' => $request->post(), 'files' => $this->describe($request->allFiles())]);
    }

    /**
     * What PHP's own variables say, for code that does not ask Laravel.
     */
    public function superglobals(): JsonResponse
    {
        return response()->json([
            'get' => $_GET,
            'post' => $_POST,
            'cookie' => $_COOKIE,
            'request' => $_REQUEST,
            'method' => $_SERVER['REQUEST_METHOD'],
            'input' => file_get_contents('php://input'),
        ]);
    }

    /**
     * @param array<array-key, mixed> $files
     *
     * @return array<array-key, mixed>
     */
    private function describe(array $files): array
    {
        return array_map(fn (array|UploadedFile $file): array => is_array($file) ? $this->describe($file) : [
            'name' => $file->getClientOriginalName(),
            'type' => $file->getClientMimeType(),
            'bytes' => $file->getSize(),
            'valid' => $file->isValid(),
            'sha1' => $file->isValid() ? sha1_file($file->getPathname()) : null,
            'moved' => $file->isValid() && unlink($file->move(storage_path('app/uploads'), uniqid('', true))->getPathname()),
        ], $files);
    }
}
