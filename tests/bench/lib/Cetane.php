<?php

declare(strict_types=1);

/** The distribution that the build made, serving one application. */
final class Cetane extends Server
{
    private readonly int $opsPort;

    /** @param list<string> $settings further key=value settings */
    public function __construct(
        private readonly string $app,
        private readonly int $workers,
        private readonly string $warmUp = '/',
        private readonly array $settings = [],
        private readonly string $log = 'warn',
    ) {
        parent::__construct('cetane');
        $this->opsPort = self::freePort();
    }

    public function start(): void
    {
        $launcher = dirname(__DIR__, 3) . '/core/target/cetane/bin/cetane';
        if (!is_file($launcher)) {
            throw new RuntimeException("$launcher is missing; build it first: mvn -B -DskipTests package");
        }
        $command = [$launcher, 'serve', $this->app, '--listen', "127.0.0.1:{$this->port}", '--ops', "127.0.0.1:{$this->opsPort}", '--workers', (string) $this->workers,
            '--set', "log.level={$this->log}", '--set', 'log.format=json', '--set', "app.environment.DEMO_STORAGE={$this->directory}/storage"];
        foreach ($this->settings as $setting) {
            array_push($command, '--set', $setting);
        }
        $this->spawn($command);
        $this->waitUntilServing($this->warmUp);
    }

    public function opsUrl(string $path): string
    {
        return "http://127.0.0.1:{$this->opsPort}$path";
    }

    public function outputLog(): string
    {
        return $this->directory . '/output.log';
    }
}
