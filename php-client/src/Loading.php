<?php

declare(strict_types=1);

namespace Cetane;

/** @internal */
final class Loading
{
    /** Whether a file is being loaded by require_once or include_once: what it does is done once a process, not once a request. */
    public static function isOnce(): bool
    {
        foreach (\debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS) as $frame) {
            if ($frame['function'] === 'require_once' || $frame['function'] === 'include_once') {
                return true;
            }
        }

        return false;
    }

    private function __construct()
    {
    }
}
