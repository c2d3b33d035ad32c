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
        $this->error = self::settleOne(\set_error_handler(...), \restore_error_handler(...), $this->error);
        $this->exception = self::settleOne(\set_exception_handler(...), \restore_exception_handler(...), $this->exception);
    }

    private static function settleOne(\Closure $set, \Closure $restore, ?callable $known): ?callable
    {
        $current = $set(null);
        $restore();
        if ($known === null || $current === null || $current === $known) {
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
