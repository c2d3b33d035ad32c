<?php

/* A PSR-15 handler, and a function for events that are no requests. */

declare(strict_types=1);

use Cetane\Lambda\Context;
use Cetane\Lambda\Handler;
use Nyholm\Psr7\Factory\Psr17Factory;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;

require '/usr/share/php/Nyholm/Psr7/autoload.php';
require dirname(__DIR__, 3) . '/php-client/tests/Bridge/psr-http-server-handler.php';

final class Orders implements RequestHandlerInterface
{
    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        $event = $request->getAttribute('lambda-event');
        $body = json_encode([
            'pid' => getmypid(),
            'id' => $request->getAttribute('id'),
            'stage' => $event->requestContext()['stage'],
            'requestId' => $event->context->requestId,
            'remaining' => $request->getAttribute('lambda-context')->getRemainingTimeInMillis(),
            'query' => $request->getQueryParams(),
        ], JSON_THROW_ON_ERROR);
        $factory = new Psr17Factory();

        return $factory->createResponse(201)
            ->withHeader('Set-Cookie', ['a=1', 'b=2'])
            ->withHeader('Content-Type', 'application/json')
            ->withBody($factory->createStream($body));
    }
}

Handler::run(new Orders(), static fn (mixed $event, Context $context): array => [$event['detail-type'], $context->requestId]);
