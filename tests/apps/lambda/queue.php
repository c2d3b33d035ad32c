<?php

/* Handles the messages of a queue: one with the body "bad" fails. */

declare(strict_types=1);

use Cetane\Lambda\Handler;
use Cetane\Lambda\SqsBatch;

Handler::run(new SqsBatch(static function (array $record): void {
    if ($record['body'] === 'bad') {
        throw new RuntimeException('a bad message');
    }
}));
