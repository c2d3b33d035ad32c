<?php

/*
 * A worker that gives each request to an OctaneClient, and lets that answer with the response that a closure in the file CLIENT_RESPONSE makes.
 */

declare(strict_types=1);

use Cetane\Octane\OctaneClient;
use Cetane\Worker;
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Laravel\Octane\OctaneResponse;
use Laravel\Octane\RequestContext;

require __DIR__ . '/contracts.php';
require __DIR__ . '/../../src/Laravel/dump.php';
require 'Illuminate/autoload.php';

set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    throw new ErrorException($message, 0, $level, $file, $line); // as Laravel does
});
$worker = Worker::connect();
$app = new Application(dirname((string) getenv('CLIENT_RESPONSE')));
$app->instance('config', new Repository(['app' => ['debug' => getenv('CLIENT_DEBUG') === '1'], 'cetane' => ['sendfile' => [__DIR__]]]));
$app->instance(ExceptionHandler::class, new class {
    public function report(Throwable $problem): void
    {
        Worker::current()?->log('error', 'reported: ' . $problem->getMessage());
    }
});
Container::setInstance($app);
$respond = require getenv('CLIENT_RESPONSE');
$client = new OctaneClient($worker);

while ($request = $worker->wait()) {
    [$illuminate, $context] = $client->marshalRequest(new RequestContext(['cetaneRequest' => $request]));
    try {
        $response = $respond($illuminate, $client);
        $client->respond($context, $response instanceof OctaneResponse ? $response : new OctaneResponse($response));
        $worker->log('info', 'responded');
    } catch (Throwable $error) {
        $client->error($error, $app, $illuminate, $context);
    }
    $client->forgetRequest();
    $worker->finish();
}
