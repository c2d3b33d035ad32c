<?php

declare(strict_types=1);

namespace Cetane\Lambda;

/**
 * What AWS says of the HTTP event that became a request, for who needs more of it than superglobals have. Immutable.
 *
 *     $event = HttpEvent::of($_SERVER);
 *     $event?->pathParameters['id'];
 *
 * A PSR-15 handler finds it in its request, as under Bref: the attributes `lambda-event` and `lambda-context`, and one for each path parameter.
 */
final class HttpEvent
{
    /** @param array<array-key, string> $pathParameters by the names that the route of API Gateway gives them, as API Gateway gives them */
    private function __construct(
        public readonly Context $context,
        public readonly array $pathParameters,
        private readonly string $requestContext,
    ) {
    }

    /**
     * @param array<array-key, mixed> $server `$_SERVER` of the request; no client can write into what this reads of it
     *
     * @return self|null null for a request that came over HTTP, and not from AWS Lambda
     */
    public static function of(array $server): ?self
    {
        if (!isset($server['LAMBDA_INVOCATION_CONTEXT'])) {
            return null;
        }
        $parameters = self::decode($server['LAMBDA_PATH_PARAMETERS'] ?? '');

        return new self(
            Context::ofJson($server['LAMBDA_INVOCATION_CONTEXT']),
            \array_map(\strval(...), \array_filter($parameters, \is_scalar(...))),
            $server['LAMBDA_REQUEST_CONTEXT'] ?? '',
        );
    }

    /**
     * The event's `requestContext`, decoded with objects as arrays: stage, authorizer, identity. Empty where there is none.
     *
     * @return array<array-key, mixed>
     */
    public function requestContext(): array
    {
        return self::decode($this->requestContext);
    }

    /**
     * As Bref names it.
     *
     * @return array<array-key, string>
     */
    public function getPathParameters(): array
    {
        return $this->pathParameters;
    }

    /**
     * As Bref names it.
     *
     * @return array<array-key, mixed>
     */
    public function getRequestContext(): array
    {
        return $this->requestContext();
    }

    /** @return array<array-key, mixed> */
    private static function decode(string $json): array
    {
        $value = \json_decode($json, true);

        return \is_array($value) ? $value : [];
    }
}
