<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Keeps the error and exception handlers of a front controller from piling up. PHP stacks them: a script that sets its own in every
 * request would add one a request. Such ones go with their request; those that were set once, by a file loaded with require_once, stay.
 *
 * @internal
 */
final class Handlers
{
    /** @var callable|null */
    private $error = null;
    /** @var callable|null */
    private $exception = null;

    /** After each request. */
    public function settle(): void
    {
        $error = \set_error_handler(null);
        \restore_error_handler();
        if ($error !== $this->error) {
            $this->error = self::unpile($error, \set_error_handler(...), \restore_error_handler(...), $this->error);
        }
        $exception = \set_exception_handler(null);
        \restore_exception_handler();
        if ($exception !== $this->exception) {
            $this->exception = self::unpile($exception, \set_exception_handler(...), \restore_exception_handler(...), $this->exception);
        }
    }

    private static function unpile(?callable $current, \Closure $set, \Closure $restore, ?callable $known): ?callable
    {
        if ($known === null || $current === null) {
            return $known ?? $current;
        }
        // Another one than before: the script sets it each time, and will do so again.
        do {
            $restore();
            $current = $set(null);
            $restore();
        } while ($current !== null);

        return $known;
    }
}
