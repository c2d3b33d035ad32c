<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

/** PHP itself, run once as a CGI program: what it makes of a request is what the client has to make of it. */
final class PhpCgi
{
    /**
     * @param array<string, string> $environment CGI variables
     *
     * @return mixed what the code printed, as JSON
     */
    public static function run(string $code, array $environment = [], string $body = ''): mixed
    {
        $script = (string) \tempnam(\sys_get_temp_dir(), 'cetane-cgi-');
        \file_put_contents($script, "<?php $code");
        $process = \proc_open(['php-cgi', '-d', 'display_errors=0'], [['pipe', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']], $pipes, null, $environment + [
            'GATEWAY_INTERFACE' => 'CGI/1.1',
            'REDIRECT_STATUS' => '1',
            'REQUEST_METHOD' => 'GET',
            'SCRIPT_FILENAME' => $script,
            'CONTENT_LENGTH' => (string) \strlen($body),
        ]);
        \fwrite($pipes[0], $body);
        \fclose($pipes[0]);
        $output = (string) \stream_get_contents($pipes[1]);
        \proc_close($process);
        \unlink($script);

        return \json_decode(\explode("\r\n\r\n", $output, 2)[1] ?? '', true, 512, \JSON_THROW_ON_ERROR);
    }
}
