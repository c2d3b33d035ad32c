<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Puts back in place what a request has changed in this process: settings, handlers, time zone, locale, environment and the like.
 *
 * What the first request leaves is taken for the application's own, since that is when it boots; so is, at any time, a setting that is
 * made while a file is loaded by require_once or include_once. For settings of sessions the first request that has a session counts:
 * frameworks make them when they first need one.
 *
 * @internal
 */
final class ProcessState
{
    /** What may be set for a session that does not start. */
    private const OF_THE_COOKIE = ['session.name', 'session.cookie_path', 'session.cookie_domain', 'session.cookie_lifetime',
        'session.cookie_secure', 'session.cookie_httponly', 'session.cookie_samesite'];
    /** What PHP itself or another function than ini_set() changes. */
    private const UNSEEN = ['zlib.output_compression', 'assert.active', 'assert.warning', 'assert.bail', 'assert.callback', 'assert.exception'];
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
    private string $encoding = '';
    private bool $libxmlErrors = false;
    private bool $collectsCycles = true;
    private bool $isSeeded = false;
    /** @var array<string, string> settings of sessions, as they were before the first one and then after it */
    private array $session;
    private bool $hadSession = false;
    private readonly bool $hasMbstring;
    private readonly bool $hasLibxml;

    public function __construct()
    {
        $this->hasMbstring = \extension_loaded('mbstring');
        $this->hasLibxml = \extension_loaded('libxml');
        $this->session = \extension_loaded('session') ? \array_map(strval(...), \ini_get_all('session', false)) : [];
        self::$current = $this;
    }

    public static function current(): ?self
    {
        return self::$current;
    }

    /** A setting is about to be changed. */
    public function beforeChange(string $setting): void
    {
        if (
            isset($this->settings[$setting])
            || (!$this->isBooted && !isset(self::OF_ONE_ANSWER[$setting]))
            || isset($this->session[$setting])
            || $setting === 'max_execution_time' // SapiExchange sees to it
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
     * After each request.
     *
     * @param bool $hadSession whether it has started a session
     */
    public function restore(bool $hadSession): void
    {
        foreach ($this->settings as $setting => $value) {
            self::set($setting, $value);
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
    }

    private function restoreSession(bool $hadSession): void
    {
        if ($hadSession && !$this->hadSession) {
            $this->hadSession = true;
            $this->session = \array_map(strval(...), \ini_get_all('session', false));

            return;
        }
        foreach ($hadSession ? \array_keys($this->session) : self::OF_THE_COOKIE as $setting) {
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
        if ($this->hasMbstring) {
            $this->encoding = (string) \mb_internal_encoding();
        }
        if ($this->hasLibxml) {
            $this->libxmlErrors = \libxml_use_internal_errors();
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
        if ($this->hasMbstring && \mb_internal_encoding() !== $this->encoding) {
            \mb_internal_encoding($this->encoding);
        }
        if ($this->hasLibxml && \libxml_use_internal_errors() !== $this->libxmlErrors) {
            \libxml_use_internal_errors($this->libxmlErrors);
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
