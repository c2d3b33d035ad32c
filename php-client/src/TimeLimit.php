<?php

declare(strict_types=1);

namespace Cetane;

/** The time limit of the running request: one report may take minutes while all other requests keep `pool.request-timeout`. */
final class TimeLimit
{
    private const RESTART = "\x30";
    private const DONE = 0;

    /**
     * Lets the running request take so many seconds from now on, more or less than it had, but no more than `pool.longest-request`. PHP's own
     * `max_execution_time` follows where there is one, as `set_time_limit()` would set it.
     *
     * Elsewhere than in a request of Cetane's this is `set_time_limit()` and nothing more.
     *
     * @param float $seconds 0 for as long as may be
     *
     * @return float the seconds that were granted, 0.0 for no limit
     *
     * @throws \InvalidArgumentException for a negative number
     * @throws \RuntimeException when the supervisor grants none: `pool.longest-request` is 0, or no request runs
     */
    public static function restart(float $seconds): float
    {
        if (!($seconds >= 0)) {
            throw new \InvalidArgumentException("A time limit is 0 or more seconds, not $seconds.");
        }
        $worker = Worker::current();
        if ($worker === null || !$worker->canCall() || $worker->request() === null) {
            @\set_time_limit((int) \ceil(\min($seconds, \PHP_INT_MAX / 2)));

            return $seconds;
        }
        $millis = $seconds > 0.0 ? (int) \max(1, \min(0xFFFF_FFFF, \ceil($seconds * 1000))) : 0;
        $reply = $worker->calls()->call(self::RESTART . \pack('N', $millis));
        if (\ord($reply) !== self::DONE) {
            throw new \RuntimeException('The request keeps its time limit: ' . \substr($reply, 1) . '.');
        }
        $granted = \unpack('N', $reply, 1)[1] / 1000;
        if (\ini_get('max_execution_time') !== '0') {
            \set_time_limit((int) \ceil($granted));
        }

        return $granted;
    }
}
