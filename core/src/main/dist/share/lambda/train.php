<?php

/*
 * Runs the bootstrap once against a Runtime API of its own, has it answer a few events, and has the JVM write the archive of the classes
 * that it loaded for them: `php train.php BOOTSTRAP ARCHIVE OPTION`, which is the JVM's option for it but for the path.
 */

declare(strict_types=1);

[, $bootstrap, $archive, $option] = $argv;
$server = stream_socket_server('tcp://127.0.0.1:0') ?: exit(1);
$application = sys_get_temp_dir() . '/cetane-train-' . getmypid();
mkdir($application);
file_put_contents("$application/worker.php", '<?php Cetane\Worker::run(fn ($request) => new Cetane\Response(200, ["Content-Type" => "text/html; charset=UTF-8", "Cache-Control" => "private", "Set-Cookie" => ["a=1", "b=2"]], $request->body() . "ok"));');
$head = ['headers' => ['host' => 'localhost', 'content-type' => 'text/plain', 'x-forwarded-proto' => 'https'], 'isBase64Encoded' => false];
$events = [
    ['version' => '2.0', 'rawPath' => '/', 'rawQueryString' => 'a=1', 'cookies' => ['a=1'], 'requestContext' => [
        'http' => ['method' => 'GET', 'path' => '/', 'protocol' => 'HTTP/1.1', 'sourceIp' => '192.0.2.1'], 'stage' => '$default']] + $head,
    ['httpMethod' => 'POST', 'path' => '/', 'body' => base64_encode(str_repeat('x', 20_000)), 'isBase64Encoded' => true, 'multiValueHeaders' => ['Host' => ['localhost']],
        'queryStringParameters' => ['a' => 'b'], 'requestContext' => ['identity' => ['sourceIp' => '192.0.2.1']]],
    ['Records' => []],
];
$process = proc_open(
    [$bootstrap],
    [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], STDERR],
    $pipes,
    null,
    [
        'PATH' => getenv('PATH'), 'AWS_LAMBDA_RUNTIME_API' => stream_socket_get_name($server, false), 'LAMBDA_TASK_ROOT' => $application,
        '_HANDLER' => 'worker.php', 'CETANE_JAVA_OPTIONS' => $option . $archive, 'JAVA_HOME' => (string) getenv('JAVA_HOME'),
    ],
);
/** Reads one message to its end; gives its first line. */
$read = static function (mixed $connection): string {
    $length = 0;
    $first = '';
    while (($line = fgets($connection)) !== false && trim($line) !== '') {
        $first = $first === '' ? $line : $first;
        if (stripos($line, 'content-length:') === 0) {
            $length = (int) substr($line, 15);
        }
    }
    while ($length > 0 && !feof($connection)) {
        $length -= strlen((string) fread($connection, $length));
    }

    return $first;
};
// The runtime's extension registers on a connection of its own, which it keeps.
$extensions = [];
do {
    $api = stream_socket_accept($server, 60) ?: exit(1);
    $first = $read($api);
    $isExtension = str_contains($first, '/extension/register');
    if ($isExtension) {
        fwrite($api, "HTTP/1.1 200 OK\r\nLambda-Extension-Identifier: train\r\nContent-Length: 2\r\n\r\n{}");
        $extensions[] = $api;
    }
} while ($isExtension);
$isAsked = true;
foreach ($events as $i => $event) {
    $isAsked || $read($api);
    $isAsked = false;
    $json = json_encode($event);
    $deadline = (time() + 60) * 1000;
    fwrite($api, "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: train-$i\r\nLambda-Runtime-Deadline-Ms: $deadline\r\nContent-Length: " . strlen($json) . "\r\n\r\n$json");
    $read($api);
    fwrite($api, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
}
$read($api);
// The supervisor looks for output now and then: that code, too, belongs into the archive.
usleep(500_000);
proc_terminate($process);
proc_close($process);
unlink("$application/worker.php");
rmdir($application);
clearstatcache();
exit(is_file($archive) ? 0 : 1);
