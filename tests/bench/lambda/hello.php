<?php

/* Hello world as a worker script. */

declare(strict_types=1);

Cetane\Worker::run(static fn (): Cetane\Response => new Cetane\Response(200, ['Content-Type' => 'text/plain'], 'Hello world'));
