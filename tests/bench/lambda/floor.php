<?php

/* The floor: a bare PHP loop on the Runtime API, which looks at nothing and answers hello world. */

declare(strict_types=1);

$api = stream_socket_client('tcp://' . getenv('AWS_LAMBDA_RUNTIME_API')) ?: exit(1);
$read = static function () use ($api): array {
    $fields = [];
    while (($line = fgets($api)) !== false && trim($line) !== '') {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $fields[strtolower($name)] = trim($value);
    }
    $body = '';
    while (strlen($body) < (int) ($fields['content-length'] ?? 0)) {
        $body .= fread($api, (int) $fields['content-length'] - strlen($body));
    }

    return [$fields, $body];
};
while (true) {
    fwrite($api, "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: api\r\n\r\n");
    [$fields, $event] = $read();
    if (!isset($fields['lambda-runtime-aws-request-id'])) {
        exit;
    }
    json_decode($event, true);
    $answer = json_encode(['statusCode' => 200, 'headers' => ['content-type' => 'text/plain'], 'isBase64Encoded' => false, 'body' => 'Hello world']);
    fwrite($api, "POST /2018-06-01/runtime/invocation/{$fields['lambda-runtime-aws-request-id']}/response HTTP/1.1\r\nHost: api\r\nContent-Length: "
        . strlen($answer) . "\r\n\r\n$answer");
    $read();
}
