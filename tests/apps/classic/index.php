<?php

/* The front controller: shows what PHP has made of the request. */

header('Content-Type: application/json');
echo json_encode([
    'script' => $_SERVER['SCRIPT_NAME'],
    'file' => $_SERVER['SCRIPT_FILENAME'],
    'path info' => $_SERVER['PATH_INFO'] ?? null,
    'self' => $_SERVER['PHP_SELF'],
    'uri' => $_SERVER['REQUEST_URI'],
    'post' => $_POST,
    'files' => array_map(static fn (array $file): array => [$file['error'], $file['size'], is_uploaded_file($file['tmp_name'])], $_FILES),
    'input' => strlen(file_get_contents('php://input')),
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
