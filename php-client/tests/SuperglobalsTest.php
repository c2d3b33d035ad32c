<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Tests\Support\PhpCgi;
use Cetane\Tests\Support\WorkerTestCase;

/**
 * The same requests to a worker and to PHP as a plain CGI program.
 *
 * @covers \Cetane\Superglobals
 * @covers \Cetane\Request
 */
final class SuperglobalsTest extends WorkerTestCase
{
    private const REPORT = 'echo json_encode([$_GET, $_POST, $_COOKIE, $_REQUEST, $_FILES, file_get_contents("php://input"), '
        . 'array_intersect_key($_SERVER, ["PHP_AUTH_USER" => 1, "PHP_AUTH_PW" => 1, "PHP_AUTH_DIGEST" => 1, "argv" => 1])], '
        . 'JSON_INVALID_UTF8_SUBSTITUTE | JSON_FORCE_OBJECT);';

    private static function requests(): iterable
    {
        $form = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded'];
        $odd = ['a.b=1', 'a b=1', 'a[b]c=1', 'a[=1', 'a[b=1', 'a[]=1&a[b]=2', 'a=1&a[b]=2', 'a[][x]=1&a[][x]=2', 'c[2]=a&c[10]=b&c[0]=c',
            'z=1&a=2', 'a=%ff%fe',
            'a=1;b=2', 'a=%zz', '[a]=1', 'a[a[]]=3', 'a[]]=3',
            'id[name=1', 'id[[name=1', '=', '&&', 'a&b', 'a=+b%20c', '%61=1', 'a%00b=1', 'a=b=c', '0=x&00=y'];
        foreach ($odd as $variables) {
            yield "query $variables" => [['QUERY_STRING' => $variables], ''];
            yield "form $variables" => [$form, $variables];
        }
        yield 'both' => [['QUERY_STRING' => 'a=1&b[x]=1&c[]=1', 'HTTP_COOKIE' => 'a=c; d=1'] + $form, 'a=2&b[y]=2&c[]=2'];
        yield 'type in capitals' => [['CONTENT_TYPE' => 'Application/X-WWW-Form-Urlencoded'] + $form, 'a=1'];
        yield 'type with a charset' => [['CONTENT_TYPE' => 'application/x-www-form-urlencoded; charset=utf-8'] + $form, 'a=1'];
        yield 'type with a comma' => [['CONTENT_TYPE' => 'application/x-www-form-urlencoded,x'] + $form, 'a=1'];
        yield 'a longer type' => [['CONTENT_TYPE' => 'application/x-www-form-urlencodedx'] + $form, 'a=1'];
        yield 'a type behind a space' => [['CONTENT_TYPE' => ' application/x-www-form-urlencoded'] + $form, 'a=1'];
        yield 'another type' => [['CONTENT_TYPE' => 'text/plain'] + $form, 'a=1'];
        yield 'no type' => [['REQUEST_METHOD' => 'POST'], 'a=1'];
        yield 'PUT' => [['REQUEST_METHOD' => 'PUT'] + $form, 'a=1'];
        yield 'a method in small letters' => [['REQUEST_METHOD' => 'post'] + $form, 'a=1'];
        yield 'an empty form' => [$form, ''];
        $credentials = ['Basic bWU6c2VjcmV0', 'basic bWU6', 'BASIC Og==', 'Basic bWU=', 'Basic !!!', 'Basic', 'Basic  bWU6cw==',
            'Digest username="me"', 'digest x', 'Bearer abc', ''];
        foreach ($credentials as $auth) {
            yield "credentials $auth" => [['HTTP_AUTHORIZATION' => $auth], ''];
        }
    }

    public function testAreWhatPhpMakesOfTheRequest(): void
    {
        $this->startFrontController(self::REPORT);
        $checked = 0;
        foreach (self::requests() as $name => [$server, $body]) {
            $expected = PhpCgi::run(self::REPORT, $server, $body);
            if ($body !== '') {
                $server['CONTENT_LENGTH'] = (string) \strlen($body);
            }
            self::assertSame($expected, $this->supervisor->exchange($server, $body)->json(), $name);
            $checked++;
        }
        self::assertGreaterThan(70, $checked);
    }
}
