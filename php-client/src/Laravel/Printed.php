<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Closure;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;

/**
 * What an application has printed while it made its response.
 *
 * @internal
 */
final class Printed
{
    /**
     * Makes $printed the beginning of the response's body. The length of a file response is settled: before one it goes to PHP's error log.
     */
    public static function before(string $printed, Response $response): void
    {
        if ($response instanceof StreamedResponse) {
            $callback = Closure::bind(fn (): ?callable => $this->callback, $response, StreamedResponse::class)();
            $response->setCallback(static function () use ($printed, $callback): mixed {
                echo $printed;

                return $callback === null ? null : $callback();
            });
        } elseif ($response instanceof BinaryFileResponse) {
            error_log("Printed before a file response, and not sent: $printed");
        } else {
            $response->setContent($printed . $response->getContent());
            $response->headers->remove('Content-Length');
        }
    }

    private function __construct()
    {
    }
}
