<?php

// The smallest front controller, with what the benchmark sends: text at once or after a while, a large answer, a large body.
header('Content-Type: text/plain');
if (isset($_GET['bytes'])) {
    $chunk = str_repeat('x', 1048576);
    for ($left = (int) $_GET['bytes']; $left > 0; $left -= 1048576) {
        echo $left >= 1048576 ? $chunk : substr($chunk, 0, $left);
        if (isset($_GET['flush'])) {
            flush();
        }
    }
    return;
}
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $input = fopen('php://input', 'rb');
    $length = 0;
    while (!feof($input)) {
        $length += strlen((string) fread($input, 65536));
    }
    echo $length, "\n";
    return;
}
if (isset($_GET['sleep'])) {
    usleep(1000 * (int) $_GET['sleep']);
}
echo "Hello, world\n";
