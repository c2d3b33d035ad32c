<?php

/* Fills the superglobals for each request and shows what they hold: the oracle's application as a worker script. */

use Cetane\Request;
use Cetane\Response;
use Cetane\Superglobals;
use Cetane\Worker;

require_once __DIR__ . '/dump.php';

$superglobals = new Superglobals();

Worker::run(static function (Request $request) use ($superglobals): Response {
    $superglobals->fill($request);
    try {
        return new Response(200, ['Content-Type' => 'application/json'], oracle_request());
    } finally {
        $superglobals->clear();
    }
});
