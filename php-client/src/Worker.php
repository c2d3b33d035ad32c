<?php

declare(strict_types=1);

namespace Cetane;

use Cetane\Protocol\Calls;
use Cetane\Protocol\Connection;
use Cetane\Protocol\ConnectionLost;
use Cetane\Protocol\Frame;
use Cetane\Protocol\Hello;
use Cetane\Protocol\Job;
use Cetane\Protocol\Measurements;
use Cetane\Protocol\PairList;
use Cetane\Protocol\ProtocolViolation;

/**
 * This process as a worker of Cetane: it takes one request after the other.
 *
 *     Worker::run(fn (Request $request) => new Response(200, ['Content-Type' => 'text/plain'], 'hi'));
 *
 * or, as a loop,
 *
 *     $worker = Worker::connect();
 *     // boot the application here
 *     while ($request = $worker->wait()) {
 *         $worker->respond(new Response(200, ['Content-Type' => 'text/plain'], 'hi'));
 *         // the client has its answer; this still counts as part of the request
 *     }
 *
 * One request runs at a time. Methods called when they make no sense (a second answer, a body without a head) throw \LogicException.
 */
final class Worker
{
    public const VERSION = '0.1.0';

    /** How long CPU time goes unasked: to ask costs more than the rest of a small request. */
    private const CPU_INTERVAL_NANOS = 1_000_000;

    private static ?self $current = null;

    private readonly Output $output;
    private readonly PrintedAnswer $printed;
    private readonly Shutdown $shutdown;
    private readonly JobRunner $jobs;
    private ?Hello $hello = null;
    private ?Request $request = null;
    private ?Measurements $measurements = null;
    /** @var list<\Closure(): void> */
    private array $afterResponse = [];
    private bool $retiring = false;
    private ?bool $canSendFiles = null;
    /** Which events are taken: "all", those that are no HTTP requests ("other"), or none. */
    private string $events = '';

    /** Seconds that PHP grants a request, 0 for no limit; of php-cgi {@see SapiExchange} knows. */
    private int $timeLimit = 0;

    private int $startedAt = 0;
    private int $endedAt = 0;
    private int $cpuMicros = 0;
    private int $cpuAskedAt = 0;

    private function __construct(private readonly Connection $connection)
    {
        $this->output = new Output($connection, fn () => $this->shutdown->end());
        $this->printed = new PrintedAnswer($connection, $this->output);
        $this->shutdown = new Shutdown($this, $connection);
        $this->jobs = new JobRunner($this);
        $this->output->start();
        \class_exists(Request::class);
        \class_exists(Response::class);
        \class_exists(PairList::class);
    }

    /**
     * Connects this process with its supervisor; later calls give the same object. From here on what the script prints outside a
     * request goes to the log.
     *
     * Where this process was started before the supervisor, as on AWS Lambda, it is not waited for here: the application boots meanwhile.
     *
     * @throws \RuntimeException when the script was not started by Cetane
     */
    public static function connect(): self
    {
        if (self::$current !== null) {
            return self::$current;
        }
        $in = \getenv('CETANE_IN');
        $out = \getenv('CETANE_OUT');
        if ($in === false || $out === false) {
            throw new \RuntimeException(
                'This script was not started by Cetane (CETANE_IN and CETANE_OUT are not set). Start it with: cetane serve '
                . ($_SERVER['SCRIPT_FILENAME'] ?? 'SCRIPT')
            );
        }
        require_once __DIR__ . '/../functions.php';
        self::dropSession();
        $isBeforeSupervisor = \getenv('CETANE_BOOTED') !== false;
        $connection = $isBeforeSupervisor ? Connection::later($in, $out) : Connection::open($in, $out);
        // Processes that the application starts must not take themselves for workers.
        foreach (['CETANE_IN', 'CETANE_OUT'] as $name) {
            \putenv($name);
            unset($_SERVER[$name], $_ENV[$name]);
        }
        $hello = $isBeforeSupervisor ? null : self::greeted($connection);
        $worker = self::$current = new self($connection);
        $worker->hello = $hello;

        return $worker;
    }

    private static function greeted(Connection $connection): Hello
    {
        try {
            return $connection->hello();
        } catch (ProtocolViolation $violation) {
            self::exitWith($connection, $violation);
        } catch (ConnectionLost) {
            exit(1);
        }
    }

    /** What the supervisor has said, for which it waits where nobody has asked before. */
    private function hello(): Hello
    {
        return $this->hello ??= self::greeted($this->connection);
    }

    /** With session.auto_start PHP has begun one, which is nobody's, and would be everybody's. */
    private static function dropSession(): void
    {
        if (\ini_get('session.auto_start') && \session_status() === \PHP_SESSION_ACTIVE) {
            \session_destroy();
            unset($_SESSION);
        }
    }

    /** The worker of this process, null before {@see connect()}. */
    public static function current(): ?self
    {
        return self::$current;
    }

    /**
     * Answers requests until the supervisor says stop. An exception that leaves the handler fails its request (500); the worker lives.
     *
     * @param callable(Request, self): (Response|string|\Stringable) $handler
     */
    public static function run(callable $handler): void
    {
        $worker = self::connect();
        while ($request = $worker->wait()) {
            try {
                $worker->finish($handler($request, $worker));
            } catch (\Throwable $error) {
                $worker->fail($error);
            }
        }
    }

    /**
     * Has events of AWS Lambda come as requests with {@see Request::$isEvent}, where the supervisor knows such; before {@see ready()}.
     *
     * @param bool $all whether HTTP requests come as their events too
     */
    public function takeEvents(bool $all): void
    {
        $this->events = $all ? 'all' : 'other';
    }

    /** Says that the application is booted. The first {@see wait()} says so too. */
    public function ready(): void
    {
        if (!$this->connection->isBooting()) {
            return;
        }
        if (!\in_array('event', $this->hello()->capabilities(), true)) {
            $this->events = '';
        }
        $this->cpuMicros = self::cpuMicros();
        $this->timeLimit = (int) \ini_get('max_execution_time');
        $forms = \in_array('form', $this->hello()->capabilities(), true) ? self::formLimits() : [];
        $this->connection->ready([
            'capabilities' => \implode(' ', \array_intersect(
                $this->hello()->capabilities(),
                ['file', 'call', 'metrics', ...$this->jobs->capabilities(), ...($forms === [] ? [] : ['form']), ...($this->events === '' ? [] : ['event'])],
            )),
            'pid' => (string) \getmypid(),
            'php' => \PHP_VERSION,
            'sapi' => \PHP_SAPI,
            'boot-micros' => (string) \max(0, (int) ((\microtime(true) - $_SERVER['REQUEST_TIME_FLOAT']) * 1e6)),
            'client' => 'cetane/worker ' . self::VERSION,
        ] + $forms + ($this->events === '' ? [] : ['events' => $this->events]));
    }

    /** Finishes the last request and waits for the next one. Null: leave the loop, the worker has to stop. */
    public function wait(): ?Request
    {
        if (!$this->connection->isIdle()) {
            if ($this->connection->isBooting()) {
                $this->ready();
            } elseif ($this->connection->isInRequest()) {
                $this->finish();
            }
        }
        $this->request?->forgetFiles();
        $this->request = null;
        if ($this->retiring) {
            return null;
        }
        $this->output->endLine();
        try {
            while (($request = $this->connection->next()) instanceof Job) {
                $this->runJob($request);
            }
        } catch (ProtocolViolation $violation) {
            self::exitWith($this->connection, $violation);
        }
        if ($request !== null) {
            $this->startedAt = \hrtime(true);
            $this->printed->hold($request);
        }

        return $this->request = $request;
    }

    /**
     * Says how tasks are run that other workers have given away, before {@see ready()}; without it {@see Tasks} runs them. Only task workers get any.
     *
     * @param callable(string): string $handler gets a task as it was serialised and returns its result, serialised; an exception fails the task
     */
    public function onTask(callable $handler): void
    {
        $this->jobs->onTask($handler(...));
    }

    /**
     * Wants to be woken once a second, before {@see ready()}. One worker of all is: a task worker where there are any.
     *
     * @param callable(): void $handler an exception goes to the log
     */
    public function onTick(callable $handler): void
    {
        $this->jobs->onTick($handler(...));
    }

    /** Whether a job runs, and no request. */
    public function isInJob(): bool
    {
        return $this->jobs->isRunning();
    }

    /** Whether the supervisor answers calls of this worker: {@see SharedTable} and {@see Tasks} need it. */
    public function canCall(): bool
    {
        return \in_array('call', $this->hello()->capabilities(), true);
    }

    /** @internal for what ships with the client */
    public function calls(): Calls
    {
        return $this->connection->calls;
    }

    /** @internal for {@see Metrics}: what goes with the next DONE; null where the supervisor does not want it */
    public function measurements(): ?Measurements
    {
        return $this->measurements ??= \in_array('metrics', $this->hello()->capabilities(), true) ? new Measurements() : null;
    }

    /**
     * Answers the request; the client gets it now. What follows until {@see wait()} costs the client nothing.
     *
     * Exceptions of a streamed body come through; hand them to {@see fail()}.
     */
    public function respond(Response|string|\Stringable $response): void
    {
        $this->send($response);
        $this->connection->flush();
    }

    /**
     * Answers the request (if {@see respond()} has not), runs what {@see afterResponse()} holds, and makes the worker free for the next
     * one. Without such work an answer that is not streamed leaves in one write.
     */
    public function finish(Response|string|\Stringable|null $response = null): void
    {
        if ($response !== null) {
            $this->send($response);
        } elseif ($this->connection->isInBody()) {
            $this->endAnswer();
        } elseif ($this->connection->isHeadDue()) {
            throw new \LogicException('The request has no answer: call respond(), or fail(), before finish() or wait().');
        }
        if ($this->afterResponse !== []) {
            $this->connection->flush();
            $this->runAfterResponse();
        }
        $this->done();
    }

    /** An interim answer such as 103 Early Hints: sent at once, before the final one. */
    public function interim(int $status, array $headers): void
    {
        if ($status < 100 || $status > 199) {
            throw new \InvalidArgumentException("$status is no status of an interim answer: it must be 100 or 102 to 199.");
        }
        $this->connection->head($status, Response::linesOf($headers), 0);
        $this->connection->flush();
    }

    /**
     * Starts an answer whose body is given by {@see write()} and {@see end()}.
     *
     * @param array<int|string, string|int|list<string>> $headers as for {@see Response}
     * @param int|null $length bytes of the body, when known
     */
    public function start(int $status = 200, array $headers = [], ?int $length = null, string $reason = ''): void
    {
        $this->logPrinted();
        $this->connection->head($status, Response::linesOf($headers), $length ?? -1, $reason);
    }

    /** Sends a piece of the body now. Blocks while the client is slower than PHP. */
    public function write(string $bytes): void
    {
        $this->connection->data($bytes);
        $this->connection->flush();
    }

    /** Completes the answer; the client gets the rest of it now. */
    public function end(): void
    {
        $this->endAnswer();
        $this->connection->flush();
    }

    /**
     * Fails the request: 500, or a cut connection when the answer has begun. The message goes to the log, and to clients in debug mode.
     *
     * Before {@see ready()} it fails the boot: the supervisor is told why, and the script has to exit.
     */
    public function fail(\Throwable $error): void
    {
        if ($this->connection->isBooting()) {
            $this->connection->error(Frame::ERROR_BOOT, (string) $error);
            $this->connection->flush();

            return;
        }
        $this->failAnswer($error);
        if ($this->connection->isInRequest()) {
            $this->runAfterResponse();
            $this->done();
        }
    }

    /**
     * {@see fail()} for a request, but the worker is not free yet: wait() or finish() make it so.
     *
     * @internal for handlers that ship with the client
     */
    public function failAnswer(\Throwable $error): void
    {
        if ($this->connection->isBroken() || !$this->connection->isInRequest()) {
            if (!$error instanceof ConnectionLost) {
                $this->log('error', (string) $error);
            }

            return;
        }
        $this->output->dropBuffers();
        $this->retiring = $this->retiring || $this->output->isDisabled();
        if ($this->connection->isDoneDue()) {
            $this->log('error', (string) $error);
        } elseif ($error instanceof ClientLeft) {
            $this->endEarly();
        } else {
            $this->logPrinted();
            $this->connection->error(Frame::ERROR_EXCEPTION, (string) $error);
            $this->endedAt = \hrtime(true);
            $this->connection->flush();
        }
    }

    /** Work that runs when the client has its answer, in the order given. An exception in it goes to the log. */
    public function afterResponse(callable $callback): void
    {
        $this->afterResponse[] = $callback(...);
    }

    /** Whether the client of the running request has left. Looks at the pipe, about the cost of one system call. */
    public function isCancelled(): bool
    {
        try {
            return $this->connection->isCancelled();
        } catch (ProtocolViolation $violation) {
            self::exitWith($this->connection, $violation);
        }
    }

    /** Makes the running request the last one: the next {@see wait()} gives null, and the supervisor starts another worker. */
    public function retire(): void
    {
        $this->retiring = true;
    }

    /** Whether the final head of the running request's answer is sent. */
    public function isHeadSent(): bool
    {
        return $this->connection->isInBody() || $this->connection->isDoneDue();
    }

    /** Whether the running request waits for the final head of its answer. */
    public function isHeadDue(): bool
    {
        return $this->connection->isHeadDue();
    }

    /** Whether the answer to the running request is complete, or has failed. */
    public function isAnswered(): bool
    {
        return $this->connection->isDoneDue();
    }

    /** The running request. */
    public function request(): ?Request
    {
        return $this->request;
    }

    /** A setting of the supervisor's HELLO: kind, script, document-root, debug; empty when it was not given. */
    public function setting(string $name): string
    {
        return $this->hello()->settings[$name] ?? '';
    }

    /** Whether error messages may go to clients. */
    public function isDebug(): bool
    {
        return $this->setting('debug') === '1';
    }

    /**
     * Writes one message to the supervisor's log, with the id of the running request.
     *
     * @param string $severity emergency, alert, critical, error, warning, notice, info or debug
     */
    public function log(string $severity, string $message): void
    {
        $level = \array_search(
            $severity,
            ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'],
            true,
        );
        $this->connection->log($level === false ? 6 : $level, $message);
    }

    /** @internal for handlers that ship with the client */
    public function output(): Output
    {
        return $this->output;
    }

    /** @internal for handlers that ship with the client */
    public function printed(): PrintedAnswer
    {
        return $this->printed;
    }

    /** @internal sends DONE */
    public function done(bool $last = false): void
    {
        if (!$this->output->endBuffers()) {
            $this->log('warning', 'An output buffer cannot be removed, so this worker serves no further request.');
            $this->retiring = true;
        }
        $this->output->endLine();
        $now = \hrtime(true);
        if ($this->endedAt < $this->startedAt) {
            $this->endedAt = $now;
        }
        if ($this->measurements !== null) {
            foreach ($this->measurements->take() as $payload) {
                $this->connection->metrics($payload);
            }
        }
        $last = $last || $this->retiring;
        $cpu = $this->cpuMicros;
        if ($last || $now - $this->cpuAskedAt >= self::CPU_INTERVAL_NANOS) {
            $this->cpuMicros = self::cpuMicros();
            $this->cpuAskedAt = $now;
        }
        $this->connection->done(
            \intdiv($this->endedAt - $this->startedAt, 1000),
            \intdiv($now - $this->endedAt, 1000),
            $this->cpuMicros - $cpu,
            \memory_get_peak_usage(true),
            $last,
        );
        $this->connection->flush();
        $this->output->toLog();
        // The time that PHP measures goes on from one request to the next until it is set anew: one's limit would end another.
        if (\PHP_SAPI === 'cli' && ($this->timeLimit > 0 || \ini_get('max_execution_time') !== '0')) {
            \set_time_limit(SapiExchange::LIMIT_COUNTS_CPU ? $this->timeLimit : 0);
        }
    }

    private function runJob(Job $job): void
    {
        HeaderFields::clear(); // of the task before, which had no answer
        $this->startedAt = \hrtime(true);
        try {
            [$status, $body] = $this->jobs->run($job);
        } catch (\Throwable $error) {
            $this->fail($error);

            return;
        }
        $this->connection->head($status, [], \strlen($body));
        $this->connection->data($body);
        $this->endAnswer();
        $this->done();
    }

    private function send(Response|string|\Stringable $response): void
    {
        $this->logPrinted();
        if (!$response instanceof Response) {
            $response = new Response(200, ['Content-Type' => 'text/html; charset=UTF-8'], (string) $response);
        }
        $body = $response->body;
        if (\is_string($body)) {
            $this->connection->head($response->status, $response->lines(), \strlen($body), $response->reason);
            $this->connection->data($body);
            $this->endAnswer();
        } else {
            (new BodySender($this, $this->connection, $this->output, $this->canSendFiles()))->send($response);
            $this->connection->isDoneDue() || $this->endAnswer();
        }
    }

    private function canSendFiles(): bool
    {
        return $this->canSendFiles ??= \in_array('file', $this->hello()->capabilities(), true);
    }

    private function endAnswer(): void
    {
        $this->connection->end();
        $this->endedAt = \hrtime(true);
        $this->output->toLog();
    }

    /** The client has left in the middle of a streamed answer: nobody reads its rest. */
    private function endEarly(): void
    {
        $this->output->discard();
        try {
            $this->endAnswer();
        } catch (\LogicException) {
            $this->connection->error(Frame::ERROR_EXCEPTION, 'The client left before its answer was complete.');
            $this->endedAt = \hrtime(true);
        }
        $this->connection->flush();
    }

    private function logPrinted(): void
    {
        $this->output->toLog();
    }

    private function runAfterResponse(): void
    {
        while ($this->afterResponse !== []) {
            $callback = \array_shift($this->afterResponse);
            try {
                $callback();
            } catch (\Throwable $error) {
                $this->log('error', (string) $error);
            }
        }
    }

    /**
     * What the supervisor has to know to read multipart forms as this PHP would; nothing when this PHP would not read them.
     *
     * @return array<string, string>
     */
    private static function formLimits(): array
    {
        if (!\ini_get('enable_post_data_reading') || !\str_contains(\strtoupper((string) \ini_get('variables_order')), 'P')) {
            return [];
        }
        $fields = \max(0, (int) \ini_get('max_input_vars'));
        $uploads = \max(0, (int) \ini_get('max_file_uploads'));
        // PHP 8.1.15 and older have no such setting, and no such limit.
        $parts = (int) (\ini_get('max_multipart_body_parts') ?: -1);
        $limits = [
            'post-max-size' => \max(0, Request::bytes((string) \ini_get('post_max_size'))),
            'upload-max-filesize' => \max(0, Request::bytes((string) \ini_get('upload_max_filesize'))),
            'max-file-uploads' => $uploads,
            'max-input-vars' => $fields,
            'max-multipart-body-parts' => $parts < 0 ? $fields + $uploads : $parts,
            'file-uploads' => (int) (bool) \ini_get('file_uploads'),
        ];

        return \array_map(\strval(...), $limits);
    }

    private static function cpuMicros(): int
    {
        $usage = \getrusage();

        return $usage['ru_utime.tv_sec'] * 1_000_000 + $usage['ru_utime.tv_usec']
            + $usage['ru_stime.tv_sec'] * 1_000_000 + $usage['ru_stime.tv_usec'];
    }

    private static function exitWith(Connection $connection, ProtocolViolation $violation): never
    {
        try {
            $connection->error(Frame::ERROR_PROTOCOL, $violation->getMessage(), $violation->request);
            $connection->flush();
        } catch (ConnectionLost) {
            // Nobody is left to be told.
        }
        exit(Frame::EXIT_PROTOCOL);
    }
}
