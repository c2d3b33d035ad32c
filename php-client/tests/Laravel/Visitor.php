<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Cetane\FileBody;
use Cetane\Laravel\Application;
use Cetane\Laravel\RequestFactory;
use Cetane\Laravel\DumpAndDie;
use Cetane\Symfony\ResponseFactory;
use Cetane\Response as WorkerResponse;
use Closure;
use Symfony\Component\HttpFoundation\Response;

/**
 * A browser with its own cookies in front of one booted application; goes through the same steps as the worker.
 */
final class Visitor
{
    /** @var array<string, string> */
    public array $cookies = [];

    public Response $response;

    public WorkerResponse $sent;

    public function __construct(private readonly Application $application)
    {
    }

    /**
     * @param array<string, mixed> $server
     */
    public function get(string $uri, array $server = []): string
    {
        return $this->send('GET', $uri, $server);
    }

    /**
     * @return array<string, mixed>
     */
    public function json(string $uri): array
    {
        return json_decode($this->get($uri), true, 512, JSON_THROW_ON_ERROR);
    }

    /**
     * Runs $action as the controller of a request.
     */
    public function run(Closure $action, string $uri = '/probe'): string
    {
        Probe::$action = $action;

        return $this->get($uri);
    }

    /**
     * @param array<string, mixed>    $server
     * @param array<array-key, mixed> $post
     * @param array<string, mixed>    $files
     * @param string|resource         $body
     */
    public function send(string $method, string $uri, array $server = [], array $post = [], array $files = [], mixed $body = ''): string
    {
        $queryString = (string) parse_url($uri, PHP_URL_QUERY);
        parse_str($queryString, $query);
        $request = RequestFactory::create($server + [
            'REQUEST_METHOD' => $method,
            'REQUEST_URI' => $uri,
            'QUERY_STRING' => $queryString,
            'SCRIPT_NAME' => '/index.php',
            'HTTP_HOST' => 'demo.test',
            'REMOTE_ADDR' => '127.0.0.1',
            'SERVER_PROTOCOL' => 'HTTP/1.1',
        ], $query, $post, $this->cookies, $files, $body);
        try {
            $this->response = $response = $this->application->handle($request);
            foreach ($response->headers->getCookies() as $cookie) {
                $this->cookies[$cookie->getName()] = (string) $cookie->getValue();
            }
            $this->sent = ResponseFactory::create($response, $method === 'HEAD', static function (\Throwable $problem): ?string {
                if ($problem instanceof DumpAndDie) {
                    return $problem->dump;
                }
                error_log('reported: ' . $problem->getMessage());

                return null;
            });

            $content = self::drain($this->sent->body);
            $this->application->terminate($request, $response);

            return $content;
        } finally {
            $this->application->reset();
        }
    }

    private static function drain(mixed $body): string
    {
        if ($body instanceof FileBody) {
            $content = (string) file_get_contents($body->path, false, null, $body->offset, $body->length);
            if ($body->delete) {
                unlink($body->path);
            }

            return $content;
        }
        $content = '';
        ob_start(static function (string $bytes) use (&$content): string {
            $content .= $bytes;

            return '';
        });
        try {
            foreach ($body instanceof Closure ? $body() : (array) $body as $piece) {
                echo $piece;
            }
        } finally {
            ob_end_flush();
        }

        return $content;
    }
}
