<?php

/* Says in the log that its shutdown code has run. */

declare(strict_types=1);

use Cetane\Worker;

ini_set('memory_limit', '64M');

register_shutdown_function(static function (): void {
    error_log('goodbye from the shutdown function');
});

Worker::run(static function (Cetane\Request $request): string {
    error_log('printed for ' . $request->path());
    if ($request->path() === '/fatal') {
        undefined_function();
    }
    if ($request->path() === '/memory') {
        return str_repeat('x', 1 << 40);
    }

    return 'hi';
});
