<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Cookies;
use Cetane\Tests\Support\PhpCgi;
use PHPUnit\Framework\TestCase;

/** @covers \Cetane\Cookies */
final class CookiesTest extends TestCase
{
    public function fields(): iterable
    {
        $fields = [
            '', 'a=1', 'a=1; b=2', 'a=1;b=2;', 'a=1;;b=2', ' a = 1 ; b=2 ', 'a=1; a=2', 'A=1; a=2', 'a', 'a; b', '=1', '; ;', 'a=', 'a==b=', 'a=1+2',
            'a=%31%zz%',
            '%61=1', 'a%20b=1', 'a b=1', 'a.b=1', '.a=1', 'a.b=1; a_b=2', 'a_b=1; a.b=2', 'a[]=1; a[]=2', 'a[x]=1; a[x]=2; a[y]=3',
            'a[x][y]=1', 'a[=1', 'a[b=1', '[a]=1', '[=1', ']=1', 'a]=1', 'a[b]c=1', 'a=1; a[b]=2', 'a[b]=1; a=2', '1=x; 01=y; 1=z', '-1=x', 'a="1; b=2"',
            'a="quoted"', "a=\ttab", "\ta=1", 'ä=ö', "\xff=\xfe", 'a,b=1', 'a=1,b=2', 'a&b=1', 'a=1&b=2', 'a#=1', '__Host-a=1', '..Host-a=1', '__%48ost-a=1',
            '. Host-a=1', '__Secure-a=1; .[Secure-a=2', 'a=%00', 'a=b%3Bc', 'a[]=1; b=2; a[]=3', 'a =1; a=2', "a\x0b=1", 'this=1', 'GLOBALS=1',
            'a=1; b=2; a=3', 'a=1+2; b=3', 'a=1&b=2; c=3', 'a=1; 5=2; 05=3',
            \implode('; ', \array_map(static fn (int $i): string => "c$i=%$i", \range(10, 160))),
        ];
        foreach ($fields as $field) {
            yield \json_encode($field, \JSON_INVALID_UTF8_SUBSTITUTE) => [$field];
        }
    }

    /** @dataProvider fields */
    public function testReadsWhatPhpReads(string $field): void
    {
        $expected = PhpCgi::run(
            'echo json_encode($_COOKIE, JSON_INVALID_UTF8_SUBSTITUTE | JSON_FORCE_OBJECT);',
            ['HTTP_COOKIE' => $field],
        );
        $actual = \json_encode(Cookies::parse($field), \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_FORCE_OBJECT);
        self::assertSame($expected, \json_decode((string) $actual, true));
    }
}
