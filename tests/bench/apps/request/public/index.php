<?php

// What PHP has made of the request, in numbers: the servers that are compared have to agree on them.
header('Content-Type: text/plain');
$bytes = 0;
foreach ($_FILES as $file) {
    $bytes += filesize($file['tmp_name']);
}
$headers = 0;
foreach ($_SERVER as $name => $value) {
    $headers += (int) str_starts_with($name, 'HTTP_X_');
}
printf("%d fields, %d files of %d bytes, %d cookies, %d headers\n", count($_POST), count($_FILES), $bytes, count($_COOKIE), $headers);
