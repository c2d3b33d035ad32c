<?php

/* Answers with what it was told of a snapshot; FAILING_HOOK names one that fails. */

declare(strict_types=1);

use Cetane\Lambda\SnapStart;
use Cetane\Request;
use Cetane\Worker;

$said = ['booted'];
$say = static function (string $what) use (&$said): void {
    $said[] = $what;
    if (getenv('FAILING_HOOK') === $what) {
        throw new RuntimeException("the hook $what fails");
    }
};
SnapStart::beforeCheckpoint(fn () => $say('before-1'));
SnapStart::beforeCheckpoint(fn () => $say('before-2'));
SnapStart::afterRestore(fn () => $say('after-1'));
SnapStart::afterRestore(fn () => $say('after-2 seeded ' . (mt_rand() === 1710563033 ? 'as before' : 'anew')));
mt_srand(42);
mt_rand();

Worker::run(static function (Request $request) use (&$said): string {
    $said[] = $request->server()['REQUEST_URI'];

    return implode(' ', $said);
});
