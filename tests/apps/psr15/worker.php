<?php

/*
 * A PSR-15 application for the end-to-end tests, with the PSR-7 implementation that Debian has.
 */

declare(strict_types=1);

use Nyholm\Psr7\Factory\Psr17Factory;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;

require '/usr/share/php/Nyholm/Psr7/autoload.php';

$factory = new Psr17Factory();
$handler = static function (ServerRequestInterface $request) use ($factory): ResponseInterface {
    $response = $factory->createResponse();
    switch ($request->getUri()->getPath()) {
        case '/message':
            $response->getBody()->write((string) json_encode([
                'pid' => getmypid(),
                'method' => $request->getMethod(),
                'uri' => (string) $request->getUri(),
                'query' => $request->getQueryParams(),
                'cookies' => $request->getCookieParams(),
                'parsed' => $request->getParsedBody(),
                'header' => $request->getHeader('X-Two'),
                'body' => (string) $request->getBody(),
            ]));

            return $response->withHeader('Content-Type', 'application/json');
        case '/length':
            $length = 0;
            $body = $request->getBody();
            while (!$body->eof()) {
                $length += strlen($body->read(65_536));
            }
            $response->getBody()->write((string) $length);

            return $response;
        case '/answer':
            return $factory->createResponse(201, 'Made Here')
                ->withHeader('X-Many', ['one', 'two'])
                ->withAddedHeader('Set-Cookie', 'a=1')
                ->withAddedHeader('Set-Cookie', 'b=2')
                ->withBody($factory->createStream('made'));
        case '/file':
            return $response->withBody($factory->createStreamFromFile(__FILE__));
        case '/exception':
            throw new LogicException('the secret of the handler');
        default:
            return $factory->createResponse(404);
    }
};

(new Cetane\Bridge\Psr15($handler, $factory, $factory))->run();
