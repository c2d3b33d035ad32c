<?php

declare(strict_types=1);

namespace Cetane\Symfony;

use Cetane\Request as WorkerRequest;
use Symfony\Component\HttpFoundation\Request;

/**
 * Makes HttpFoundation's request straight from the worker's: superglobals are neither needed nor touched.
 *
 * @internal
 */
final class RequestFactory
{
    /** Methods whose URL-encoded body HttpFoundation reads as a form. */
    private const FORM_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

    /** @param array<int|string, mixed> $environment what `$_SERVER` has besides, for every request */
    public static function create(WorkerRequest $request, array $environment = []): Request
    {
        $server = $request->server();
        $server['PHP_SELF'] ??= ($server['SCRIPT_NAME'] ?? '') . ($server['PATH_INFO'] ?? '');
        if (($server['DOCUMENT_ROOT'] ?? '') !== '' && isset($server['SCRIPT_NAME'])) {
            // As under php-fpm; HttpFoundation finds the base of URLs by it.
            $server['SCRIPT_FILENAME'] ??= $server['DOCUMENT_ROOT'] . $server['SCRIPT_NAME'];
        }
        $hasForm = $request->multipart() !== null || \in_array($request->method(), self::FORM_METHODS, true);

        return new Request(
            $request->query(),
            $hasForm ? $request->form() : [],
            [],
            $request->cookies(),
            $request->files(),
            $server + $environment,
            $request->bodyFile() === null ? $request->body() : $request->bodyStream(),
        );
    }
}
