<?php

declare(strict_types=1);

namespace Cetane\Tests\Support;

/**
 * The supervisor's side of the protocol for one worker: real FIFOs, a real process. It speaks raw bytes on purpose and shares no code
 * with the client.
 */
final class ScriptedSupervisor
{
    public const HELLO = 0x01;
    public const REQUEST = 0x02;
    public const CANCEL = 0x03;
    public const STOP = 0x04;
    public const NAMES = [
        0x41 => 'READY', 0x42 => 'HEAD', 0x43 => 'DATA', 0x44 => 'FILE', 0x45 => 'END', 0x46 => 'DONE', 0x47 => 'ERROR', 0x48 => 'LOG',
        0x49 => 'CALL', 0x4B => 'METRICS',
    ];

    /** The functions that the real supervisor disables, so that the client can define them. */
    public const DISABLED = 'flush,ob_implicit_flush,ob_get_level,connection_aborted,connection_status,headers_sent,getallheaders,'
        . 'apache_request_headers,session_name,is_uploaded_file,move_uploaded_file,filter_has_var,filter_input,filter_input_array';
    /** Those that it disables for front controllers and Laravel besides. */
    public const DISABLED_FOR_REQUESTS = ',register_shutdown_function,session_write_close,ini_set,mt_srand';

    /** Those that it disables under `php`. */
    public const DISABLED_UNDER_CLI = ',header,header_remove,headers_list,setcookie,setrawcookie';

    private const PATIENCE_SECONDS = 20;
    private const SIGSEGV = 11;

    private readonly string $directory;
    /** @var resource */
    private $toWorker;
    /** @var resource */
    private $fromWorker;
    /** @var resource|null */
    private $process = null;
    private string $buffer = '';
    private int $number = 0;
    private ?int $exitCode = null;
    /** @var list<array{int, int, string}> LOG frames: severity, request, message */
    public array $log = [];

    public function __construct()
    {
        $this->directory = \sys_get_temp_dir() . '/cetane-test-' . \bin2hex(\random_bytes(8));
        \mkdir($this->directory, 0700);
        foreach (['in', 'out'] as $name) {
            \posix_mkfifo("$this->directory/$name", 0600) || throw new \RuntimeException('mkfifo failed');
        }
        // Both ways, so that no open waits for the other end.
        $this->toWorker = \fopen("$this->directory/in", 'r+be');
        $this->fromWorker = \fopen("$this->directory/out", 'r+be');
        \stream_set_read_buffer($this->fromWorker, 0);
        \stream_set_write_buffer($this->toWorker, 0);
        \stream_set_blocking($this->fromWorker, false);
    }

    /**
     * Starts PHP with a script.
     *
     * @param list<string> $options
     * @param array<string, string> $environment
     */
    public function start(string $script, array $options = [], string $php = 'php', array $environment = []): self
    {
        $ownsRequests = \basename($script) === 'cetane-worker.php';
        $disabled = self::DISABLED
            . ($ownsRequests ? self::DISABLED_FOR_REQUESTS : '')
            . ($ownsRequests && $php === 'php-cgi' ? ',header_register_callback' : '')
            . ($php === 'php' ? self::DISABLED_UNDER_CLI : '');
        $this->process = \proc_open(
            [$php, '-d', "disable_functions=$disabled", '-d', 'log_errors=1', '-d', 'display_errors=0',
                '-d', 'opcache.file_update_protection=0', ...$options, $script],
            [['file', '/dev/null', 'r'], ['file', "$this->directory/stdout", 'w'], ['file', "$this->directory/stderr", 'w']],
            $pipes,
            null,
            $environment + [
                'CETANE_IN' => "$this->directory/in",
                'CETANE_OUT' => "$this->directory/out",
                'CETANE_WORKER' => '1',
                'CETANE_APP' => $script,
                'PATH' => '/usr/bin:/bin',
            ],
        ) ?: throw new \RuntimeException("$php did not start");

        return $this;
    }

    /** @param array<string, string> $settings */
    public function hello(array $settings = [], array $server = [], int $low = 1, int $high = 1): self
    {
        return $this->send(self::frame(
            self::HELLO,
            0,
            0,
            \pack('nn', $low, $high) . self::pairs($settings) . self::pairs($server),
        ));
    }

    /** @param array<string, string> $server */
    public function request(array $server = [], string $body = '', int $flags = 0): self
    {
        $server += ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/', 'QUERY_STRING' => '', 'SCRIPT_NAME' => '/index.php'];
        $names = \implode("\0", \array_keys($server));
        $values = \implode("\0", $server);

        return $this->send(self::frame(
            self::REQUEST,
            $flags,
            ++$this->number,
            \pack('ENNNN', 1_700_000_000.25, 30_000, \strlen($names), \strlen($values), \strlen($body)) . $names . $values . $body,
        ));
    }

    public function task(string $task, int $flags = 0): self
    {
        return $this->send(self::frame(0x06, $flags, ++$this->number, \pack('N', 0) . $task));
    }

    public function tick(): self
    {
        return $this->send(self::frame(0x07, 0, ++$this->number));
    }

    /** The answer to the call that was read last; $number is 0 while the worker boots. */
    public function reply(string $payload, int $flags = 0, ?int $number = null): self
    {
        return $this->send(self::frame(0x08, $flags, $number ?? $this->number, $payload));
    }

    public function cancel(): self
    {
        return $this->send(self::frame(self::CANCEL, 0, $this->number));
    }

    public function stop(): self
    {
        return $this->send(self::frame(self::STOP, 0, 0));
    }

    /** Lets the worker see the end of its stream. */
    public function hangUp(): self
    {
        \fclose($this->toWorker);

        return $this;
    }

    public function send(string $bytes): self
    {
        \fwrite($this->toWorker, $bytes) === \strlen($bytes) || throw new \RuntimeException('short write');

        return $this;
    }

    /** The next frame that is no LOG. */
    public function next(): Frame
    {
        do {
            $header = $this->read(12);
            ['magic' => $magic, 'type' => $type, 'flags' => $flags, 'length' => $length, 'number' => $number]
                = \unpack('Cmagic/Ctype/nflags/Nlength/Nnumber', $header);
            $magic === 0xCE || throw new \RuntimeException('no frame: ' . \bin2hex($header));
            $payload = $this->read($length);
            if ($type === 0x48) {
                $this->log[] = [\ord($payload[0]), $number, \substr($payload, 1)];
            }
        } while ($type === 0x48);

        return new Frame(self::NAMES[$type] ?? "0x$type", $flags, $number, $payload);
    }

    /** Reads one answer up to DONE. */
    public function answer(): Answer
    {
        $answer = new Answer();
        do {
            $frame = $this->next();
            $frame->number === $this->number || throw new \RuntimeException("$frame->name of request $frame->number");
            $answer->add($frame);
        } while ($frame->name !== 'DONE');

        return $answer;
    }

    public function exchange(array $server = [], string $body = '', int $flags = 0): Answer
    {
        return $this->request($server, $body, $flags)->answer();
    }

    /** An answer without its DONE: {@see done()} reads that. */
    public function exchangeUntilEnd(array $server = [], string $body = ''): Answer
    {
        $this->request($server, $body);
        $answer = new Answer();
        do {
            $frame = $this->next();
            $answer->add($frame);
        } while ($frame->name !== 'END' && $frame->name !== 'ERROR');

        return $answer;
    }

    public function done(): Frame
    {
        $frame = $this->next();

        return $frame->name === 'DONE' ? $frame : throw new \RuntimeException("$frame->name instead of DONE");
    }

    /** The worker's exit code, once it has exited. */
    public function exitCode(): int
    {
        $deadline = \microtime(true) + self::PATIENCE_SECONDS;
        while ($this->exitCode === null) {
            $status = \proc_get_status($this->process);
            if (!$status['running']) {
                $this->exitCode = $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
            } elseif (\microtime(true) > $deadline) {
                throw new \RuntimeException('The worker does not exit. It said: ' . $this->stderr());
            } else {
                \usleep(1000);
            }
        }

        return $this->exitCode;
    }

    /** Bytes that the worker has sent and nobody has read. */
    public function rest(): string
    {
        return $this->buffer . \stream_get_contents($this->fromWorker);
    }

    public function stdout(): string
    {
        return (string) \file_get_contents("$this->directory/stdout");
    }

    public function stderr(): string
    {
        return (string) \file_get_contents("$this->directory/stderr");
    }

    /**
     * What error_log() has written, without the time that php-cgi puts before it.
     *
     * @return list<string>
     */
    public function errorLines(): array
    {
        return \preg_split('/\R/', (string) \preg_replace('/^\[[^]]*\] /m', '', $this->stderr()), -1, \PREG_SPLIT_NO_EMPTY);
    }

    public function pid(): int
    {
        return \proc_get_status($this->process)['pid'];
    }

    /** A file in a directory that is gone after the test. */
    public function file(string $name, string $content): string
    {
        \file_put_contents("$this->directory/$name", $content);

        return "$this->directory/$name";
    }

    /** The LOG messages so far. */
    public function messages(): string
    {
        return \implode("\n", \array_column($this->log, 2));
    }

    public function close(): void
    {
        $crashed = $this->exitCode === 128 + self::SIGSEGV;
        if ($this->process !== null) {
            if ($this->exitCode === null) {
                $status = \proc_get_status($this->process);
                $crashed = $status['signaled'] && $status['termsig'] === self::SIGSEGV;
                \proc_terminate($this->process, 9);
            }
            \proc_close($this->process);
        }
        // PHPUnit keeps each test to the end of its run, and select() takes 1024 descriptors.
        foreach ([$this->toWorker, $this->fromWorker] as $pipe) {
            if (\is_resource($pipe)) {
                \fclose($pipe);
            }
        }
        \array_map('unlink', \glob("$this->directory/*") ?: []);
        \rmdir($this->directory);
        if ($crashed) {
            throw new \RuntimeException('PHP itself has crashed: segmentation fault.');
        }
    }

    public static function frame(int $type, int $flags, int $number, string $payload = ''): string
    {
        return \pack('CCnNN', 0xCE, $type, $flags, \strlen($payload), $number) . $payload;
    }

    /** @param array<string, string> $pairs */
    public static function pairs(array $pairs): string
    {
        $names = \implode("\0", \array_keys($pairs));
        $values = \implode("\0", $pairs);

        return \pack('NN', \strlen($names), \strlen($values)) . $names . $values;
    }

    private function read(int $length): string
    {
        $deadline = \microtime(true) + self::PATIENCE_SECONDS;
        while (\strlen($this->buffer) < $length) {
            $chunk = (string) @\fread($this->fromWorker, 65_536);
            $this->buffer .= $chunk;
            if ($chunk !== '') {
                continue;
            }
            if ($this->process !== null && $this->exitCode === null) {
                $status = \proc_get_status($this->process);
                if (!$status['running']) {
                    // What it wrote before it exited is in the pipe: look once more.
                    $this->exitCode = $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
                    continue;
                }
            }
            if ($this->exitCode !== null || \microtime(true) > $deadline) {
                throw new \RuntimeException(\sprintf(
                    "No frame; exit code %s, stderr: %s\nstdout: %s",
                    $this->exitCode ?? 'none',
                    $this->stderr(),
                    $this->stdout(),
                ));
            }
            $read = [$this->fromWorker];
            $none = null;
            \stream_select($read, $none, $none, 0, 20_000);
        }
        $bytes = \substr($this->buffer, 0, $length);
        $this->buffer = \substr($this->buffer, $length);

        return $bytes;
    }
}
