<?php

/* What the rivals have in common: the Runtime API's client, and the way from an event of an HTTP API to PHP's variables. */

declare(strict_types=1);

final class Events
{
    private mixed $api;

    public function __construct()
    {
        $this->api = stream_socket_client('tcp://' . getenv('AWS_LAMBDA_RUNTIME_API')) ?: exit(1);
    }

    /** @return array{string, array<string, mixed>} id and event */
    public function next(): array
    {
        fwrite($this->api, "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: api\r\n\r\n");
        [$fields, $body] = $this->read();

        return isset($fields['lambda-runtime-aws-request-id']) ? [$fields['lambda-runtime-aws-request-id'], json_decode($body, true)] : exit;
    }

    /** @param array<string, list<string>> $headers */
    public function answer(string $id, int $status, array $headers, string $body): void
    {
        $cookies = $headers['set-cookie'] ?? [];
        unset($headers['set-cookie']);
        $isText = preg_match('~^(text/|application/(json|javascript|xml))~', $headers['content-type'][0] ?? '') && mb_check_encoding($body, 'UTF-8');
        $json = json_encode([
            'statusCode' => $status,
            'headers' => (object) array_map(static fn (array $values): string => implode(', ', $values), $headers),
            'cookies' => $cookies,
            'isBase64Encoded' => !$isText,
            'body' => $isText ? $body : base64_encode($body),
        ], JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        fwrite($this->api, "POST /2018-06-01/runtime/invocation/$id/response HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\nContent-Length: "
            . strlen($json) . "\r\n\r\n$json");
        $this->read();
    }

    /** @return array{array<string, string>, string} */
    private function read(): array
    {
        $fields = [];
        while (($line = fgets($this->api)) !== false && trim($line) !== '') {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $fields[strtolower($name)] = trim($value);
        }
        $body = '';
        while (strlen($body) < (int) ($fields['content-length'] ?? 0)) {
            $body .= fread($this->api, (int) $fields['content-length'] - strlen($body));
        }

        return [$fields, $body];
    }

    public static function body(array $event): string
    {
        $body = $event['body'] ?? '';

        return ($event['isBase64Encoded'] ?? false) ? (string) base64_decode($body) : $body;
    }

    /** @return array<string, string> as `$_SERVER`, or FastCGI's parameters */
    public static function server(array $event, string $script): array
    {
        $http = $event['requestContext']['http'];
        $query = $event['rawQueryString'] ?? '';
        $headers = array_change_key_case($event['headers'] ?? []);
        if (($event['cookies'] ?? []) !== []) {
            $headers['cookie'] = implode('; ', $event['cookies']);
        }
        $host = $headers['host'] ?? 'localhost';
        $server = [
            'REQUEST_METHOD' => $http['method'], 'REQUEST_URI' => $event['rawPath'] . ($query === '' ? '' : "?$query"), 'QUERY_STRING' => $query,
            'SERVER_PROTOCOL' => $http['protocol'] ?? 'HTTP/1.1', 'SERVER_NAME' => explode(':', $host)[0], 'SERVER_PORT' => $headers['x-forwarded-port'] ?? '80',
            'REMOTE_ADDR' => $http['sourceIp'], 'REMOTE_PORT' => '80', 'SERVER_ADDR' => '127.0.0.1', 'SERVER_SOFTWARE' => 'rival', 'GATEWAY_INTERFACE' => 'CGI/1.1',
            'SCRIPT_NAME' => '/index.php', 'SCRIPT_FILENAME' => $script, 'DOCUMENT_ROOT' => dirname($script), 'PHP_SELF' => '/index.php', 'REDIRECT_STATUS' => '200',
            'REQUEST_TIME_FLOAT' => (string) microtime(true), 'REQUEST_TIME' => (string) time(),
        ];
        foreach ($headers as $name => $value) {
            $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
        }
        if (isset($headers['content-type'])) {
            $server['CONTENT_TYPE'] = $headers['content-type'];
        }
        $server['CONTENT_LENGTH'] = (string) strlen(self::body($event));

        return $server;
    }
}
