<?php

declare(strict_types=1);

namespace Cetane\Tests;

use PHPUnit\Framework\TestCase;

/** Under the cli SAPI header() and the like do what they do under php-cgi: PHP's own are asked beside ours. */
final class HeaderFieldsTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function calls(): iterable
    {
        $calls = [
            'header("X-A: 1"); header("X-A: 2");',
            'header("X-A: 1"); header("x-a: 2", false);',
            'header("X-A:  kept   "); header("X-B:");',
            'header("X-A: 1\r\nX-B: 2");',
            'header("X-A: a\0b");',
            'header("X-A : 1"); header("X-A: 2");',
            'header("Content-Type: text/html");',
            'header("Content-Type:   text/css; charset=x"); header("content-type: text/xml");',
            'header("Content-Type: application/json");',
            'header("Content-Type:");',
            'header("HTTP/1.1 418 I am a teapot");',
            'header("HTTP/1.0 404");',
            'header("Location: /there");',
            'header("Location: /there", true, 307);',
            'http_response_code(201); header("Location: /there");',
            'header("Location: /there"); header("X-A: 1", true, 200);',
            'header("WWW-Authenticate: Basic realm=a");',
            'header("X-A: 1"); header("X-B: 2"); header_remove("x-a");',
            'header("X-A: 1"); header_remove();',
            'setcookie("");',
            'setcookie("a=b", "x");',
            'setcookie("a b", "x");',
            'setcookie("name", "of many ;=&+ü signs");',
            'setrawcookie("name", "raw%20value");',
            'setrawcookie("name", "raw value");',
            'setcookie("name"); setcookie("name", "");',
            'setcookie("name", "v", 5);',
            'setcookie("name", "v", -5);',
            'setcookie("name", "v", 253402300800);',
            'setcookie("name", "v", 0, "/p", "example.org", true, true);',
            'setcookie("name", "v", 0, "/p;");',
            'setcookie("name", "v", 0, "/", "a,b");',
            'setcookie("name", "v", ["Expires" => "5", "path" => "/", "domain" => "d", "secure" => 1, "httponly" => "0", "SameSite" => "Lax"]);',
            'setcookie("name", "v", ["unknown" => 1]);',
            'setcookie("name", "v", [2]);',
            'setcookie("name", "v", ["path" => "/;"]);',
            'setcookie("name", "v", ["expires" => 5], "/");',
            'setcookie("one", "1"); setcookie("one", "2");',
        ];
        foreach ($calls as $call) {
            yield $call => [$call];
        }
    }

    /** @dataProvider calls */
    public function testFieldsAreSetAsByPhpItself(string $calls): void
    {
        $script = <<<PHP
            <?php
            ob_start();
            header_remove('X-Powered-By');
            set_error_handler(static function (int \$level, string \$message): bool {
                echo "warning: \$message\n";

                return true;
            });
            try {
                $calls
            } catch (Throwable \$problem) {
                echo get_class(\$problem), ': ', \$problem->getMessage(), "\n";
            }
            \$seen = ob_get_clean() . json_encode([http_response_code() ?: 200, headers_list()]);
            header_remove();
            header('Content-Type: text/plain');
            echo \$seen;
            PHP;
        $file = \tempnam(\sys_get_temp_dir(), 'cetane-header-') ?: self::fail('no temporary file');
        try {
            \file_put_contents($file, $script);
            self::assertSame(
                self::printedBy(['php-cgi', '-q', $file]),
                self::printedBy([
                    'php', '-d', 'disable_functions=header,header_remove,headers_list,setcookie,setrawcookie,headers_sent',
                    '-d', 'auto_prepend_file=' . \dirname(__DIR__) . '/autoload.php', $file,
                ]),
            );
        } finally {
            \unlink($file);
        }
    }

    /** @param list<string> $command */
    private static function printedBy(array $command): string
    {
        $process = \proc_open($command, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes, null, ['PATH' => '/usr/bin:/bin'])
            ?: self::fail("$command[0] did not start");
        $printed = (string) \stream_get_contents($pipes[1]);
        self::assertSame('', (string) \stream_get_contents($pipes[2]));
        \proc_close($process);

        return $printed;
    }
}
