<?php

declare(strict_types=1);

namespace Cetane\Octane;

use Cetane\FileBody;
use Cetane\Response as WorkerResponse;
use RuntimeException;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Response;

/**
 * The header `X-Sendfile: /absolute/path`, by which an application asks the server to send a file in place of the body.
 *
 * @internal
 */
final class SendFile
{
    public static function isAskedFor(Response $response): bool
    {
        return $response->headers->get('X-Sendfile', '') !== '';
    }

    /**
     * The answer with the file.
     *
     * @param list<string> $directories below which files may be asked for: a header may have come from another server that the application has asked
     *
     * @throws RuntimeException if the file is missing, or lies outside the directories
     */
    public static function answer(Response $response, array $directories): WorkerResponse
    {
        $asked = (string) $response->headers->get('X-Sendfile');
        $path = realpath($asked);
        $isOwn = $response instanceof BinaryFileResponse && $response->getFile()->getRealPath() === $path;
        if ($path === false || !is_file($path) || !($isOwn || self::isBelow($path, $directories))) {
            throw new RuntimeException("X-Sendfile: $asked is no file below the directories of cetane.sendfile (" . implode(', ', $directories) . ').');
        }
        $headers = $response->headers->allPreserveCaseWithoutCookies();
        foreach (array_keys($headers) as $name) {
            if (in_array(strtolower((string) $name), ['x-sendfile', 'content-length'], true)) {
                unset($headers[$name]);
            }
        }
        foreach ($response->headers->getCookies() as $cookie) {
            $headers['Set-Cookie'][] = (string) $cookie;
        }

        return new WorkerResponse($response->getStatusCode(), $headers, new FileBody($path));
    }

    /** @param list<string> $directories */
    private static function isBelow(string $path, array $directories): bool
    {
        foreach ($directories as $directory) {
            $directory = realpath($directory);
            if ($directory !== false && str_starts_with($path, rtrim($directory, '/') . '/')) {
                return true;
            }
        }

        return false;
    }

    private function __construct()
    {
    }
}
