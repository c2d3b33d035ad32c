<?php

declare(strict_types=1);

namespace Cetane\Tests;

use Cetane\Form;
use Cetane\Protocol\Frame;
use Cetane\Tests\Support\WorkerTestCase;

/**
 * Forms as they come from the supervisor; that they become what PHP makes of them is tested where they are read.
 *
 * @covers \Cetane\Form
 * @covers \Cetane\Request
 * @covers \Cetane\Superglobals
 */
final class FormTest extends WorkerTestCase
{
    private const POST = ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'multipart/form-data; boundary=B', 'CONTENT_LENGTH' => '500'];

    private const REPORT = 'echo json_encode(["post" => $_POST, "files" => $_FILES, "request" => $_REQUEST, "input" => file_get_contents("php://input"),'
        . ' "type" => $_SERVER["CONTENT_TYPE"] ?? null, "length" => $_SERVER["CONTENT_LENGTH"] ?? null], JSON_FORCE_OBJECT);';

    private static function form(string $fields = '', string ...$files): string
    {
        return \pack('N', \strlen($fields)) . $fields . \implode('', $files);
    }

    private static function file(string $field, string $path, string $name = 'dir/a.txt', int $error = 0): string
    {
        $size = $error === 0 ? (string) \filesize($path) : '0';

        return \implode("\0", [$field, \basename($name), $name, $error === 0 ? 'text/plain' : '', $error === 0 ? $path : '', (string) $error, $size, '']);
    }

    public function testFillTheSuperglobalsAndLeaveNoBody(): void
    {
        $this->startFrontController(self::REPORT, [], 'form');
        $path = $this->supervisor->file('upload-1', 'content');
        $request = self::form('a=1&b%5Bx%5D=2+%26&a%2Eb=%00%FF', self::file('f', $path), self::file('g[x][]', $path), self::file('h', '', '', 4));
        $report = $this->supervisor->exchange(self::POST, \str_replace('%FF', '%41', $request), Frame::FORM)->json();
        self::assertSame(['a' => '1', 'b' => ['x' => '2 &'], 'a_b' => "\0A"], $report['post']);
        self::assertSame($report['post'], $report['request']);
        self::assertSame([
            'f' => ['name' => 'a.txt', 'full_path' => 'dir/a.txt', 'type' => 'text/plain', 'tmp_name' => $path, 'error' => 0, 'size' => 7],
            'g' => [
                'name' => ['x' => ['a.txt']],
                'full_path' => ['x' => ['dir/a.txt']],
                'type' => ['x' => ['text/plain']],
                'tmp_name' => ['x' => [$path]],
                'error' => ['x' => [0]],
                'size' => ['x' => [7]],
            ],
            'h' => ['name' => '', 'full_path' => '', 'type' => '', 'tmp_name' => '', 'error' => 4, 'size' => 0],
        ], $report['files']);
        self::assertSame(['', 'multipart/form-data; boundary=B', '500'], [$report['input'], $report['type'], $report['length']]);

        $next = $this->supervisor->exchange(['REQUEST_METHOD' => 'POST'])->json();
        self::assertSame([[], [], ''], [$next['post'], $next['files'], $next['input']], 'nothing is left for the next request');
        $this->assertStopsQuietly();
    }

    public function testTextsMayBeInFiles(): void
    {
        $this->startFrontController(self::REPORT, [], 'form');
        $path = $this->supervisor->file('upload-1', 'content');
        $fields = $this->supervisor->file('body-1', 'a=' . \str_repeat('x', 100_000));
        $files = $this->supervisor->file('body-2', self::file('f', $path));
        $both = Frame::FORM | Frame::BODY_IN_FILE;
        $report = $this->supervisor->exchange(self::POST, "$fields\0$files", $both)->json();
        self::assertSame([100_000, 7], [\strlen($report['post']['a']), $report['files']['f']['size']]);
        $report = $this->supervisor->exchange(self::POST, "$fields\0", $both)->json();
        self::assertSame([100_000, []], [\strlen($report['post']['a']), $report['files']]);
        $report = $this->supervisor->exchange(self::POST, "\0$files", $both)->json();
        self::assertSame([[], 7], [$report['post'], $report['files']['f']['size']]);
    }

    public function sapis(): array
    {
        return [['php-cgi'], ['php']];
    }

    /**
     * Called as libraries do, from a namespace and from the global scope.
     *
     * @dataProvider sapis
     */
    public function testUploadsAreKnownToPhpsFunctionsUntilTheyAreMoved(string $php): void
    {
        $library = $this->supervisor->file('library.php', '<?php namespace Some\Library;'
            . 'function take(array $file, string $to): array { return [is_uploaded_file($file["tmp_name"]), move_uploaded_file($file["tmp_name"], $to),'
            . ' is_uploaded_file($file["tmp_name"]), move_uploaded_file($file["tmp_name"], $to . "2")]; }');
        $target = \dirname($library) . '/target';
        $other = $this->supervisor->file('other', 'no upload');
        $upload = $this->supervisor->file('upload-1', 'content');
        $empty = $this->supervisor->file('upload-2', '');
        \chmod($upload, 0600);
        $code = "require_once '$library'; umask(022); echo json_encode([Some\\Library\\take(\$_FILES['f'], '$target'), is_uploaded_file('$other'),"
            . " is_uploaded_file(''), move_uploaded_file('$other', '$target-other'), is_uploaded_file(\$_FILES['g']['tmp_name'])]);";
        if ($php === 'php-cgi') {
            $this->startFrontController($code, [], 'form');
        } else {
            $this->startScript('Worker::run(function (Request $request) { $_FILES = $request->files(); ob_start(); '
                . "$code return new Response(200, [], ob_get_clean()); });", [], 'php', 'form');
        }
        $body = self::form('', self::file('f', $upload), self::file('g', $empty));
        $answer = $this->supervisor->exchange(self::POST, $body, Frame::FORM);
        self::assertSame([[true, true, false, false], false, false, false, true], $answer->json());
        self::assertSame('content', \file_get_contents($target));
        self::assertSame(0644, \fileperms($target) & 0777, 'as any file that the application makes');
        self::assertFileDoesNotExist($upload);

        $body = self::form('', self::file('f', '', 'x', 3), self::file('g', '', '', 4));
        $answer = $this->supervisor->exchange(self::POST, $body, Frame::FORM);
        self::assertSame([[false, false, false, false], false, false, false, false], $answer->json(), 'uploads of the last request are none of this one');
        $this->assertStopsQuietly();
    }

    public function testAnUploadThatCannotBeMovedStays(): void
    {
        $this->startFrontController('set_error_handler(function ($level, $message) { echo $message, "|"; return true; });'
            . 'echo json_encode([move_uploaded_file($_FILES["f"]["tmp_name"], "/nowhere/file"), is_uploaded_file($_FILES["f"]["tmp_name"])]);', [], 'form');
        $path = $this->supervisor->file('upload-1', 'content');
        $body = $this->supervisor->exchange(self::POST, self::form('', self::file('f', $path)), Frame::FORM)->body;
        self::assertSame("move_uploaded_file(): Unable to move \"$path\" to \"/nowhere/file\"|[false,true]", $body);
    }

    public function testAWorkerTellsTheLimitsOfItsPhp(): void
    {
        $ini = ['post_max_size' => '9M', 'upload_max_filesize' => '1K', 'max_file_uploads' => '7', 'max_input_vars' => '11', 'file_uploads' => '0'];
        $options = [];
        foreach ($ini as $name => $value) {
            \array_push($options, '-d', "$name=$value");
        }
        $facts = $this->facts($options, 'file form');
        self::assertSame('file form', $facts['capabilities']);
        self::assertSame([
            'post-max-size' => '9437184',
            'upload-max-filesize' => '1024',
            'max-file-uploads' => '7',
            'max-input-vars' => '11',
            'max-multipart-body-parts' => '18',
            'file-uploads' => '0',
        ], \array_slice($facts, -6));
        $facts = $this->facts(['-d', 'max_multipart_body_parts=3', '-d', 'post_max_size=-1', '-d', 'upload_max_filesize=0'], 'form');
        self::assertSame(['0', '0', '3', '1'], [
            $facts['post-max-size'],
            $facts['upload-max-filesize'],
            $facts['max-multipart-body-parts'],
            $facts['file-uploads'],
        ]);
        self::assertArrayNotHasKey('post-max-size', $this->facts([], 'file'), 'not asked for');
        foreach (['enable_post_data_reading=0', 'variables_order=GCS'] as $setting) {
            $facts = $this->facts(['-d', $setting], 'file form');
            self::assertSame('file', $facts['capabilities'], $setting);
            self::assertArrayNotHasKey('post-max-size', $facts);
        }
    }

    /**
     * @param list<string> $options
     *
     * @return array<string, string>
     */
    private function facts(array $options, string $capabilities): array
    {
        $this->tearDown();
        $this->setUp();
        $this->bootScript('Worker::run(fn () => "");', $options, 'php-cgi', $capabilities);
        $ready = $this->supervisor->next();
        self::assertSame('READY', $ready->name);
        ['n' => $names, 'v' => $values] = \unpack('Nn/Nv', $ready->payload, 2);

        return \array_combine(\explode("\0", \substr($ready->payload, 10, $names)), \explode("\0", \substr($ready->payload, 10 + $names, $values)));
    }

    public function testALargeListOfFilesIsNoMatterForMaxInputVars(): void
    {
        $path = $this->supervisor->file('upload-1', 'x');
        $form = Form::decode(self::form('', \str_repeat(self::file('f[]', $path), 3000)), false);
        self::assertCount(3000, $form->files()['f']['tmp_name']);
    }
}
