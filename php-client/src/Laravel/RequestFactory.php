<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;
use Symfony\Component\HttpFoundation\Request as SymfonyRequest;

/**
 * Makes Laravel's request from the parts that PHP would have put into its superglobals.
 *
 * @internal
 */
final class RequestFactory
{
    private static ?bool $isQueryInput = null;

    /**
     * The request that `Request::capture()` gives for the same parts under php-fpm. Uploaded files may have been put there by anybody: they count as
     * uploaded, and `move()` renames them.
     *
     * @param array<string, mixed>         $server  as `$_SERVER`
     * @param array<array-key, mixed>      $query   as `$_GET`
     * @param array<array-key, mixed>      $post    as `$_POST`
     * @param array<array-key, mixed>      $cookies as `$_COOKIE`
     * @param array<string, mixed>         $files   as `$_FILES`
     * @param string|resource              $body    as `php://input`; a seekable stream is not read unless the application asks for its content
     */
    public static function create(array $server, array $query, array $post, array $cookies, array $files, mixed $body): Request
    {
        SymfonyRequest::enableHttpMethodParameterOverride();
        $method = strtoupper((string) ($server['REQUEST_METHOD'] ?? 'GET'));
        if (
            $post === []
            && in_array($method, ['PUT', 'PATCH', 'DELETE'], true)
            && str_starts_with((string) ($server['CONTENT_TYPE'] ?? ''), 'application/x-www-form-urlencoded')
        ) {
            parse_str(is_string($body) ? $body : (string) stream_get_contents($body, null, 0), $post);
        }

        $uploads = self::uploads($files);
        if (str_contains((string) ($server['CONTENT_TYPE'] ?? ''), 'json')) {
            // Versions of Laravel differ in what becomes of such a body.
            return Request::createFromBase(new SymfonyRequest($query, $post, [], $cookies, $uploads, $server, $body));
        }
        // What it does for the others, without making each part twice.
        $request = new Request($query, $post, [], $cookies, $uploads, $server, $body);
        if (($method === 'GET' || $method === 'HEAD') && self::isQueryInput()) {
            $request->request = $request->query;
        }

        return $request;
    }

    /** Whether this Laravel takes the query of a GET request for its input: 8.83 does. */
    private static function isQueryInput(): bool
    {
        return self::$isQueryInput ??= Request::createFromBase(new SymfonyRequest(['q' => '1']))->request->has('q');
    }

    /**
     * @param array<string, mixed> $files
     *
     * @return array<string, mixed> the same tree, each file in PHP's notation replaced by an object; fields without a file are left out, as Laravel does
     */
    private static function uploads(array $files): array
    {
        $uploads = [];
        foreach ($files as $field => $file) {
            $upload = self::upload($file['name'], $file['type'], $file['tmp_name'], $file['error']);
            if ($upload !== null) {
                $uploads[$field] = $upload;
            }
        }

        return $uploads;
    }

    /**
     * @return UploadedFile|array<array-key, mixed>|null
     */
    private static function upload(mixed $name, mixed $type, mixed $path, mixed $error): UploadedFile|array|null
    {
        if (!is_array($name)) {
            return $error === UPLOAD_ERR_NO_FILE ? null : new UploadedFile($path, $name, $type, $error, true);
        }
        $uploads = [];
        foreach ($name as $key => $inner) {
            $upload = self::upload($inner, $type[$key] ?? null, $path[$key] ?? null, $error[$key] ?? UPLOAD_ERR_NO_FILE);
            if ($upload !== null) {
                $uploads[$key] = $upload;
            }
        }

        return $uploads;
    }
}
