<?php

/* Says what it sees of a request; with the field X-Answer it answers as that says: base64 of JSON {status, headers, body, repeat}. */

declare(strict_types=1);

if (isset($_SERVER['HTTP_X_ANSWER'])) {
    $answer = json_decode(base64_decode($_SERVER['HTTP_X_ANSWER']), true, 16, JSON_THROW_ON_ERROR);
    http_response_code($answer['status'] ?? 200);
    foreach ($answer['headers'] ?? [] as [$name, $value]) {
        header("$name: $value", false);
    }
    echo str_repeat(isset($answer['hex']) ? hex2bin($answer['hex']) : $answer['body'] ?? '', $answer['repeat'] ?? 1);

    return;
}
$files = [];
array_walk_recursive($_FILES, static function (mixed $value, string $key) use (&$files): void {
    if (is_string($value) && is_uploaded_file($value)) {
        $files[] = ['path' => $value, 'sha1' => sha1_file($value), 'size' => filesize($value)];
    }
});
$input = file_get_contents('php://input');
header('Content-Type: application/json');
echo json_encode([
    'get' => $_GET,
    'post' => $_POST,
    'cookie' => $_COOKIE,
    'files' => $_FILES,
    'uploaded' => $files,
    'input' => ['length' => strlen($input), 'sha1' => sha1($input)],
    'server' => $_SERVER,
], JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
