<?php

declare(strict_types=1);

namespace Cetane\Tests\Octane;

use Cetane\Laravel\Console\ServerConsole;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\BufferedOutput;

// Before Symfony's own dd(), which would end the tests of others.
require_once __DIR__ . '/../../src/Laravel/dump.php';
require_once 'Symfony/Component/Console/autoload.php';

/** What a developer sees of the server's log. */
final class ServerConsoleTest extends TestCase
{
    /** @var list<string> */
    private array $ups = [];

    public function testARequestIsALineAsOctanePrintsIt(): void
    {
        $seen = $this->read(self::event('http.access', 'GET /articles?page=2', ['status' => 200, 'micros' => 12_345]));
        self::assertMatchesRegularExpression('/^  200    GET \/articles \.+ 12\.35 ms$/m', $seen);
    }

    public function testTheLineOfARequestFitsTheTerminal(): void
    {
        $seen = $this->read(self::event('http.access', 'GET /' . str_repeat('long', 100), ['status' => 404, 'micros' => 1]));
        self::assertLessThanOrEqual(80, strlen(rtrim($seen)));
        self::assertMatchesRegularExpression('/longlo\.\.\.  0\.00 ms$/m', $seen);
    }

    public function testRequestsAreShownWhereTheyAreAskedForOnly(): void
    {
        self::assertSame('', $this->read(self::event('http.access', 'GET /', ['status' => 200]), showsRequests: false));
    }

    public function testWhatTheApplicationPrintsIsShownAsItIs(): void
    {
        $json = ['{"type":"request"}', '{"type":"throwable"}', '{"type":"throwable","class":[]}', '[]', 'null', '"text"', '{'];
        foreach (['plain', '<info>no markup</info>', ...$json] as $line) {
            self::assertSame("$line\n", $this->read(self::event('worker.output', $line)), $line);
        }
    }

    public function testAnExceptionThatOctanePrintsIsReadable(): void
    {
        $exception = [
            'type' => 'throwable', 'class' => 'LogicException', 'message' => 'a <b> message', 'file' => '/a.php', 'line' => 3,
            'trace' => [['file' => '/b.php', 'line' => 4], ['function' => 'internal'], 'nonsense'],
        ];
        $seen = $this->read(self::event('worker.output', (string) json_encode($exception)));
        self::assertStringContainsString('LogicException  a <b> message', $seen);
        self::assertStringContainsString('/a.php:3', $seen);
        self::assertStringContainsString('/b.php:4', $seen);
    }

    public function testTheServerIsUpOnceAndItsAddressesAreTold(): void
    {
        $started = 'Serving /srv/on air (laravel) on http://127.0.0.1:1, unix:/x; health and metrics on http://127.0.0.1:2';
        $this->read(self::event('supervisor.started', $started) . self::event('supervisor.started', $started));
        self::assertSame(['http://127.0.0.1:1, unix:/x'], $this->ups);
    }

    public function testWarningsAreShownOnceTheServerIsUp(): void
    {
        $warning = self::event('worker.stopped', 'a worker has crashed', [], 'warn');
        self::assertSame('', $this->read($warning));
        self::assertStringContainsString('WARN  a worker has crashed', $this->read(self::event('supervisor.started', '') . $warning));
        self::assertSame('', $this->read(self::event('supervisor.started', '') . $warning, 'error'));
        self::assertSame('', $this->read(self::event('supervisor.started', '') . self::event('worker.ready', 'of no interest')));
    }

    public function testTheLogMayComeInAnyPieces(): void
    {
        $log = self::event('worker.output', 'one') . self::event('worker.output', 'two') . 'no JSON at all';
        self::assertSame("one\ntwo\nno JSON at all\n", $this->read($log, pieceBytes: 7));
    }

    private function read(string $log, string $least = 'info', bool $showsRequests = true, int $pieceBytes = 4096): string
    {
        $output = new BufferedOutput();
        $console = new ServerConsole($output, $least, $showsRequests, function (string $addresses): void {
            $this->ups[] = $addresses;
        });
        array_map($console->read(...), str_split($log, $pieceBytes));
        $console->end();

        return $output->fetch();
    }

    /** @param array<string, mixed> $fields */
    private static function event(string $event, string $message, array $fields = [], string $level = 'info'): string
    {
        return json_encode(['time' => 'now', 'level' => $level, 'event' => $event, 'message' => $message, 'fields' => $fields]) . "\n";
    }
}
