<?php

declare(strict_types=1);

namespace Cetane\Tests\Octane;

use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

// Before Symfony's own dd(), which would end the tests of others.
require_once __DIR__ . '/../../src/Laravel/dump.php';
require_once 'Symfony/Component/Process/autoload.php';

/**
 * Octane's commands and our own, run by artisan, with a stand-in for the cetane command that notes how it was called.
 */
final class CommandsTest extends TestCase
{
    private string $directory;

    protected function setUp(): void
    {
        $this->directory = sys_get_temp_dir() . '/cetane-commands-' . bin2hex(random_bytes(6));
        mkdir($this->directory);
    }

    protected function tearDown(): void
    {
        exec('rm -rf ' . escapeshellarg($this->directory));
    }

    /**
     * @dataProvider startCommands
     */
    public function testOptionsBecomeSettingsOfTheServer(string ...$start): void
    {
        $run = $this->artisan([...$start, '--host=::1', '--port=8123', '--workers=3', '--max-requests=77']);
        self::assertSame(0, $run->getExitCode(), $run->getOutput() . $run->getErrorOutput());
        $words = $this->note('serve')['words'];
        self::assertSame(['serve', self::application()], array_slice($words, 0, 2));
        $settings = self::settings($words);
        self::assertSame(
            ['[::1]:8123', '3', '77', '30000ms', 'laravel', 'false', 'json'],
            [
                $settings['http.listen'], $settings['pool.workers'], $settings['pool.max-requests'], $settings['pool.request-timeout'],
                $settings['app.kind'], $settings['app.debug'], $settings['log.format'],
            ]
        );
    }

    /**
     * @return list<list<string>>
     */
    public function startCommands(): array
    {
        return [['octane:start', '--server=cetane'], ['octane:start'], ['cetane:start']];
    }

    public function testTheDefaultsAreOctanes(): void
    {
        $this->artisan(['cetane:start']);
        $settings = self::settings($this->note('serve')['words']);
        self::assertSame(['127.0.0.1:8000', 'auto', '500'], [$settings['http.listen'], $settings['pool.workers'], $settings['pool.max-requests']]);
        $this->artisan(['cetane:start'], ['OCTANE_HOST' => '0.0.0.0', 'OCTANE_PORT' => '80']);
        self::assertSame('0.0.0.0:80', self::settings($this->note('serve')['words'])['http.listen']);
    }

    public function testAnOptionOfAnotherServerIsNotIgnoredInSilence(): void
    {
        $run = $this->artisan(['octane:start', '--https', '--rpc-port=6001']);
        self::assertSame(0, $run->getExitCode(), $run->getErrorOutput());
        self::assertStringContainsString('--https has no effect: put TLS in front of Cetane, which serves plain HTTP.', $run->getOutput());
        self::assertStringContainsString('--rpc-port has no effect', $run->getOutput());
        self::assertStringNotContainsString('no effect', $this->artisan(['octane:start', '--port=8123'])->getOutput());
    }

    public function testWatchingIsAskedForWithThePathsOfOctanesConfiguration(): void
    {
        $this->artisan(['octane:start', '--watch']);
        $settings = self::settings($this->note('serve')['words']);
        self::assertSame(['true', 'app, routes'], [$settings['watch.enabled'], $settings['watch.paths']]);
        $this->artisan(['octane:start']);
        self::assertArrayNotHasKey('watch.enabled', self::settings($this->note('serve')['words']));
    }

    public function testTheServerHasOctanesEnvironmentAndNothingOfTheEnvironmentFile(): void
    {
        file_put_contents("$this->directory/.env", "HARNESS_VERSION=of-the-file\nAPP_ENV=local\n");
        $environment = ['HARNESS_ENVIRONMENT' => $this->directory, 'FROM_OUTSIDE' => 'kept'];
        $this->artisan(['cetane:start'], $environment);
        $seen = $this->note('serve')['environment'];
        self::assertSame(['1', self::application(), 'local', 'kept'], [
            $seen['LARAVEL_OCTANE'], $seen['APP_BASE_PATH'], $seen['APP_ENV'], $seen['FROM_OUTSIDE'],
        ]);
        self::assertArrayNotHasKey('HARNESS_VERSION', $seen);
        self::assertArrayNotHasKey('CETANE_COMMAND', $seen, 'the server would refuse a variable it does not know');

        $this->artisan(['cetane:start'], $environment + ['HARNESS_VERSION' => 'from outside']);
        self::assertSame('from outside', $this->note('serve')['environment']['HARNESS_VERSION'], 'a real variable wins over the file, as in Laravel');
    }

    public function testTheServerIsNotedWhileItRuns(): void
    {
        $file = "$this->directory/state.json";
        $this->artisan(['cetane:start'], ['CETANE_STATE_FILE' => $file, 'FAKE_OUT' => '']);
        self::assertFileDoesNotExist($file);
        file_put_contents($file, json_encode(['masterProcessId' => 4711, 'state' => ['runDirectory' => '/run/x']]));
        $run = $this->artisan(['cetane:start'], ['CETANE_STATE_FILE' => $file, 'FAKE_RUNNING' => '1']);
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('runs already, process 4711', $run->getOutput());
        self::assertFileDoesNotExist("$this->directory/serve.json.new");
    }

    /**
     * @dataProvider askingCommands
     */
    public function testTheOtherCommandsAskTheNotedServer(string $command, string $asked): void
    {
        $file = "$this->directory/state.json";
        file_put_contents($file, json_encode(['masterProcessId' => 4711, 'state' => ['runDirectory' => '/run/x']]));
        $run = $this->artisan([$command], ['CETANE_STATE_FILE' => $file, 'FAKE_RUNNING' => '1']);
        self::assertSame(0, $run->getExitCode(), $run->getOutput());
        self::assertSame([$asked, '--instance', '4711', '--run-directory', '/run/x'], array_slice($this->note($asked)['words'], 0, 5));
    }

    /**
     * @return list<array{string, string}>
     */
    public function askingCommands(): array
    {
        return [
            ['octane:reload', 'reload'], ['octane:stop', 'stop'], ['octane:status', 'status'],
            ['cetane:reload', 'reload'], ['cetane:stop', 'stop'], ['cetane:status', 'status'],
        ];
    }

    /**
     * @dataProvider askingCommands
     */
    public function testWithoutAServerTheyFail(string $command): void
    {
        $run = $this->artisan([$command]);
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('not running', $run->getOutput());
    }

    public function testAReloadThatFailsSaysWhy(): void
    {
        file_put_contents("$this->directory/state.json", json_encode(['masterProcessId' => 4711]));
        $run = $this->artisan(
            ['octane:reload'],
            ['CETANE_STATE_FILE' => "$this->directory/state.json", 'FAKE_RUNNING' => '1', 'FAKE_ERR' => 'cetane: a syntax error', 'FAKE_CODE' => '1']
        );
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('a syntax error', $run->getOutput());
    }

    /**
     * @dataProvider octanesCommands
     */
    public function testOtherServersAreLeftToOctane(string $command): void
    {
        $run = $this->artisan([$command, '--server=other']);
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('Invalid server: other.', $run->getOutput());
    }

    /**
     * @return list<array{string}>
     */
    public function octanesCommands(): array
    {
        return [['octane:start'], ['octane:reload'], ['octane:stop'], ['octane:status'], ['octane:install']];
    }

    public function testTheServerIsOneOfThoseThatCanBeInstalled(): void
    {
        $run = $this->artisan(['octane:install'], input: "swoole\n");
        self::assertMatchesRegularExpression('/Which application server.*cetane.*roadrunner.*swoole/s', $run->getOutput());
        self::assertStringContainsString('Invalid server: swoole.', $run->getOutput());

        $run = $this->artisan(['octane:install'], input: "\n");
        self::assertSame(0, $run->getExitCode(), $run->getOutput() . $run->getErrorOutput());
        self::assertStringNotContainsString('Invalid server', $run->getOutput());
    }

    public function testTheLevelOfTheLogIsTheServersWhereItIsMoreThanUsual(): void
    {
        $this->artisan(['octane:start']);
        self::assertArrayNotHasKey('log.level', self::settings($this->note('serve')['words']));
        $line = '{"level":"debug","event":"worker.started","message":"worker 1 boots"}' . "\n";
        $run = $this->artisan(['cetane:start', '--log-level=DEBUG'], ['FAKE_OUT' => $line]);
        self::assertSame('debug', self::settings($this->note('serve')['words'])['log.level']);
        self::assertStringContainsString('worker 1 boots', $run->getOutput());
    }

    public function testALevelThatThereIsNotIsRefused(): void
    {
        $run = $this->artisan(['cetane:start', '--log-level=loud']);
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('--log-level=loud is none of debug, info, warn, error.', $run->getOutput());
        self::assertFileDoesNotExist("$this->directory/serve.json");
    }

    public function testAServerThatEndsWithoutAWordIsToldOf(): void
    {
        $run = $this->artisan(['octane:start'], ['FAKE_CODE' => '7']);
        self::assertSame(7, $run->getExitCode());
        self::assertStringContainsString('The server has ended with exit code 7 and has not said why', $run->getOutput());
    }

    public function testACommandThatIsMissingIsTold(): void
    {
        $run = $this->artisan(['octane:start'], ['CETANE_COMMAND' => 'no-such-command']);
        self::assertSame(1, $run->getExitCode());
        self::assertStringContainsString('The command no-such-command was not found', $run->getOutput());
    }

    public function testAServerThatCannotStartIsToldOnceAndInFull(): void
    {
        $log = '{"level":"error","event":"worker.boot-failed","message":"LogicException: no; trying again"}' . "\n";
        $run = $this->artisan(['octane:start'], ['FAKE_OUT' => $log, 'FAKE_ERR' => "cetane: cannot start: LogicException: no\n#0 a.php\n", 'FAKE_CODE' => '1']);
        self::assertSame(1, $run->getExitCode());
        self::assertSame(1, substr_count($run->getOutput(), 'LogicException'));
        self::assertStringContainsString('#0 a.php', $run->getOutput());
    }

    /**
     * Extensions can't be taken away from PHP, their functions can.
     */
    public function testPcntlAndPosixAreNotNeeded(): void
    {
        $functions = array_merge(get_extension_funcs('pcntl') ?: [], get_extension_funcs('posix') ?: []);
        $run = $this->artisan(['octane:start'], [], ['-d', 'disable_functions=' . implode(',', $functions)]);
        self::assertSame(0, $run->getExitCode(), $run->getOutput() . $run->getErrorOutput());
        self::assertSame('serve', $this->note('serve')['words'][0]);
    }

    /**
     * @param list<string>          $words
     * @param array<string, string> $environment
     * @param list<string>          $options of PHP
     */
    private function artisan(array $words, array $environment = [], array $options = [], string $input = ''): Process
    {
        $process = new Process(['php', ...$options, self::application() . '/artisan', '--no-ansi', ...$words], null, $environment + [
            'CETANE_COMMAND' => __DIR__ . '/cetane',
            'CETANE_STATE_FILE' => "$this->directory/cetane.json",
            'DEMO_STORAGE' => "$this->directory/storage",
            'FAKE_NOTES' => $this->directory,
            'APP_ENV' => false,
        ], $input);
        $process->run();

        return $process;
    }

    /** @return array{words: list<string>, environment: array<string, string>} */
    private function note(string $command): array
    {
        self::assertFileExists("$this->directory/$command.json");

        return json_decode((string) file_get_contents("$this->directory/$command.json"), true);
    }

    /**
     * @param list<string> $words
     *
     * @return array<string, string>
     */
    private static function settings(array $words): array
    {
        $settings = [];
        foreach ($words as $index => $word) {
            if ($word === '--set') {
                [$key, $value] = explode('=', $words[$index + 1], 2);
                $settings[$key] = $value;
            }
        }

        return $settings;
    }

    private static function application(): string
    {
        return dirname(__DIR__, 3) . '/tests/apps/octane';
    }
}
