<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Puts back in place what a request has changed in this process: settings, handlers, time zone, locale, environment and the like.
 *
 * What the first request of a front controller leaves is taken for the application's own, since that is when it boots; so is, at any time, a
 * setting that is made while a file is loaded by require_once or include_once. For settings of sessions the first request that has a session
 * counts: frameworks make them when they first need one.
 *
 * @internal
 */
final class ProcessState
{
    /** Settings of sessions that have functions of their own, and so are changed unseen. */
    private const OF_THE_COOKIE = ['session.name', 'session.cookie_path', 'session.cookie_domain', 'session.cookie_lifetime',
        'session.cookie_secure', 'session.cookie_httponly', 'session.cookie_samesite'];
    private const OF_THE_STORE = ['session.save_path', 'session.save_handler', 'session.cache_limiter', 'session.cache_expire'];
    /** What PHP itself or another function than ini_set() changes. */
    private const UNSEEN = ['zlib.output_compression', 'assert.active', 'assert.warning', 'assert.bail', 'assert.callback', 'assert.exception',
        'intl.default_locale', 'bcmath.scale'];
    /** What one answer is about, and so goes with the first request too. */
    private const OF_ONE_ANSWER = ['default_mimetype' => 1, 'zlib.output_compression' => 1];

    private static ?self $current = null;

    private bool $isBooted = false;
    /** @var array<string, string> values that settings had before the request changed them */
    private array $settings = [];
    /** @var array<string, string|false> */
    private array $unseen = [];
    /** @var callable|null */
    private $errorHandler = null;
    /** @var callable|null */
    private $exceptionHandler = null;
    private int $errorReporting = 0;
    private string $timeZone = '';
    private string $locale = '';
    private int $umask = 0;
    /** @var array<string, string> */
    private array $environment = [];
    private string $includePath = '';
    /** @var array<string, mixed> what functions of mbstring tell, each of which sets it too */
    private array $multibyte = [];
    private bool $libxmlErrors = false;
    private ?\mysqli_driver $mysqli = null;
    private int $mysqliReports = 0;
    private bool $collectsCycles = true;
    private bool $isSeeded = false;
    /** @var array<string, string> settings of sessions, as they were before the first one and then after it */
    private array $session;
    private bool $hadSession = false;
    /** Whether the request has changed settings of sessions by ini_set(). */
    private bool $changedSession = false;
    /** @var array<string, true> those that it has changed for good */
    private array $ownOfSession = [];
    private readonly bool $hasLibxml;
    /** Where each request begins; null where the caller sees to it. */
    private ?string $directory = null;

    public function __construct(private readonly Worker $worker)
    {
        $this->hasLibxml = \extension_loaded('libxml');
        $this->session = \extension_loaded('session') ? \array_map(strval(...), \ini_get_all('session', false)) : [];
        self::$current = $this;
    }

    /** For an application that is booted by now: nothing that a request leaves is its own. */
    public static function ofBooted(Worker $worker): self
    {
        $state = new self($worker);
        $state->isBooted = true;
        $state->remember();
        $state->directory = (string) \getcwd();
        Shutdown::current()->functions->keepForTheEnd();

        return $state;
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** A setting is about to be changed. */
    public function beforeChange(string $setting): void
    {
        if (isset($this->session[$setting])) {
            $this->changedSession = true;
            if (!$this->isBooted || Loading::isOnce()) {
                $this->ownOfSession[$setting] = true;
            }

            return;
        }
        if (
            isset($this->settings[$setting])
            || (!$this->isBooted && !isset(self::OF_ONE_ANSWER[$setting]))
            || $setting === 'max_execution_time' // Worker or SapiExchange sees to it
        ) {
            return;
        }
        $value = \ini_get($setting);
        if ($value !== false && !Loading::isOnce()) {
            $this->settings[$setting] = $value;
        }
    }

    /** The random numbers of mt_rand() and the like are no longer random. */
    public function seeded(): void
    {
        $this->isSeeded = true;
    }

    /**
     * After each request. A setting that cannot be put back (open_basedir, which only gets narrower) makes it the last one of this process.
     *
     * @param bool $hadSession whether it has started a session
     */
    public function restore(bool $hadSession): void
    {
        foreach ($this->settings as $setting => $value) {
            self::set($setting, $value);
            if (\ini_get($setting) !== $value) {
                $this->worker->log('warning', "The setting $setting cannot be put back, so this worker serves no further request.");
                $this->worker->retire();
            }
        }
        $this->settings = [];
        if ($this->session !== []) {
            $this->restoreSession($hadSession);
        }
        if ($this->isSeeded) {
            $this->isSeeded = false;
            \srand();
        }
        if (\ignore_user_abort() !== 0) {
            \ignore_user_abort(false);
        }
        if ($this->isBooted) {
            $this->compare();
        } else {
            $this->isBooted = true;
            $this->remember();
        }
        if ($this->directory !== null && \getcwd() !== $this->directory) {
            @\chdir($this->directory); // a release that is gone by now has no better one
        }
    }

    private function restoreSession(bool $hadSession): void
    {
        if ($hadSession && !$this->hadSession) {
            $this->hadSession = true;
            $this->session = \array_map(strval(...), \ini_get_all('session', false));

            return;
        }
        foreach ($this->isBooted ? \array_keys($this->ownOfSession) : [...\array_keys($this->ownOfSession), ...self::OF_THE_STORE] as $setting) {
            $this->session[$setting] = (string) \ini_get($setting);
        }
        $all = $hadSession || $this->changedSession;
        $this->changedSession = false;
        $this->ownOfSession = [];
        foreach ($all ? \array_keys($this->session) : [...self::OF_THE_COOKIE, ...self::OF_THE_STORE] as $setting) {
            if (\ini_get($setting) !== $this->session[$setting]) {
                self::set($setting, $this->session[$setting]);
            }
        }
    }

    private static function set(string $setting, string $value): void
    {
        \ini_restore($setting);
        if (\ini_get($setting) !== $value) {
            @\ini_alter($setting, $value); // not ini_set(): that is the application's, see functions.php
        }
    }

    private function remember(): void
    {
        foreach (self::UNSEEN as $setting) {
            $this->unseen[$setting] = \ini_get($setting);
        }
        $this->errorHandler = self::errorHandler();
        $this->exceptionHandler = self::exceptionHandler();
        $this->errorReporting = \error_reporting();
        $this->timeZone = \date_default_timezone_get();
        $this->locale = (string) \setlocale(\LC_ALL, '0');
        $this->umask = \umask();
        $this->environment = \getenv();
        $this->includePath = (string) \get_include_path();
        $this->collectsCycles = \gc_enabled();
        $names = ['mb_internal_encoding', 'mb_substitute_character', 'mb_language', 'mb_detect_order', 'mb_regex_encoding'];
        foreach (\array_filter($names, \function_exists(...)) as $function) {
            $this->multibyte[$function] = $function();
        }
        if ($this->hasLibxml) {
            $this->libxmlErrors = \libxml_use_internal_errors();
        }
        if (\class_exists(\mysqli_driver::class, false)) {
            $this->mysqli = new \mysqli_driver();
            $this->mysqliReports = $this->mysqli->report_mode;
        }
    }

    private function compare(): void
    {
        foreach ($this->unseen as $setting => $value) {
            if (\ini_get($setting) !== $value) {
                self::set($setting, (string) $value);
            }
        }
        if (self::errorHandler() !== $this->errorHandler) {
            self::popUntil($this->errorHandler, self::errorHandler(...), \restore_error_handler(...), \set_error_handler(...));
        }
        if (self::exceptionHandler() !== $this->exceptionHandler) {
            self::popUntil($this->exceptionHandler, self::exceptionHandler(...), \restore_exception_handler(...), \set_exception_handler(...));
        }
        if (\error_reporting() !== $this->errorReporting) {
            \error_reporting($this->errorReporting);
        }
        if (\date_default_timezone_get() !== $this->timeZone) {
            \date_default_timezone_set($this->timeZone);
        }
        if (\setlocale(\LC_ALL, '0') !== $this->locale) {
            \setlocale(\LC_ALL, $this->locale);
        }
        if (\umask() !== $this->umask) {
            \umask($this->umask);
        }
        if (\get_include_path() !== $this->includePath) {
            \set_include_path($this->includePath);
        }
        $environment = \getenv();
        if ($environment !== $this->environment) {
            $this->restoreEnvironment($environment);
        }
        if (\gc_enabled() !== $this->collectsCycles) {
            $this->collectsCycles ? \gc_enable() : \gc_disable();
        }
        foreach ($this->multibyte as $function => $value) {
            if ($function() !== $value) {
                $function($value);
            }
        }
        if ($this->hasLibxml && \libxml_use_internal_errors() !== $this->libxmlErrors) {
            \libxml_use_internal_errors($this->libxmlErrors);
        }
        if ($this->mysqli !== null && $this->mysqli->report_mode !== $this->mysqliReports) {
            $this->mysqli->report_mode = $this->mysqliReports;
        }
    }

    /** @param array<string, string> $environment */
    private function restoreEnvironment(array $environment): void
    {
        foreach (\array_diff_key($environment, $this->environment) as $name => $value) {
            \putenv((string) $name);
        }
        foreach (\array_diff_assoc($this->environment, $environment) as $name => $value) {
            \putenv("$name=$value");
        }
    }

    /** PHP stacks handlers: those above the known one are of the request. */
    private static function popUntil(?callable $known, \Closure $get, \Closure $restore, \Closure $set): void
    {
        $current = $get();
        while ($current !== $known && $current !== null) {
            $restore();
            $current = $get();
        }
        if ($current !== $known) {
            $set($known); // the request has removed it
        }
    }

    private static function errorHandler(): ?callable
    {
        $handler = \set_error_handler(null);
        \restore_error_handler();

        return $handler;
    }

    private static function exceptionHandler(): ?callable
    {
        $handler = \set_exception_handler(null);
        \restore_exception_handler();

        return $handler;
    }
}
