<?php

declare(strict_types=1);

namespace Cetane\Lambda;

use Cetane\Request;

/** What AWS Lambda says of the running invocation. Immutable. */
final class Context
{
    /**
     * @param int $deadlineMillis when the invocation's time is over, Unix milliseconds; 0 when it is not known
     * @param array<string, mixed> $clientContext what a mobile SDK sent along
     * @param array<string, mixed> $cognitoIdentity the caller's identity, where it has one
     * @param string $tenantId empty where the function does not isolate tenants
     */
    public function __construct(
        public readonly string $requestId,
        public readonly int $deadlineMillis = 0,
        public readonly string $functionArn = '',
        public readonly string $traceId = '',
        public readonly array $clientContext = [],
        public readonly array $cognitoIdentity = [],
        public readonly string $tenantId = '',
    ) {
    }

    /** @internal */
    public static function of(Request $event): self
    {
        return new self(
            $event->variable('request-id') ?? '',
            (int) $event->variable('deadline-ms'),
            $event->variable('function-arn') ?? '',
            $event->variable('trace-id') ?? '',
            self::decode($event->variable('client-context')),
            self::decode($event->variable('cognito-identity')),
            $event->variable('tenant-id') ?? '',
        );
    }

    /**
     * From LAMBDA_INVOCATION_CONTEXT of a request.
     *
     * @internal see {@see HttpEvent::of()}
     */
    public static function ofJson(string $json): self
    {
        $context = self::decode($json);

        return new self(
            (string) ($context['awsRequestId'] ?? ''),
            (int) ($context['deadlineMs'] ?? 0),
            (string) ($context['invokedFunctionArn'] ?? ''),
            (string) ($context['traceId'] ?? ''),
            self::decode($context['clientContext'] ?? null),
            self::decode($context['cognitoIdentity'] ?? null),
            (string) ($context['tenantId'] ?? ''),
        );
    }

    /** Milliseconds until the deadline, 0 when it has passed; PHP_INT_MAX when there is none. */
    public function remainingMillis(): int
    {
        return $this->deadlineMillis === 0 ? \PHP_INT_MAX : \max(0, $this->deadlineMillis - (int) (\microtime(true) * 1000));
    }

    /** As Bref names it. */
    public function getAwsRequestId(): string
    {
        return $this->requestId;
    }

    /** As Bref names it. */
    public function getRemainingTimeInMillis(): int
    {
        return $this->remainingMillis();
    }

    /** As Bref names it. */
    public function getInvokedFunctionArn(): string
    {
        return $this->functionArn;
    }

    /** As Bref names it. */
    public function getTraceId(): string
    {
        return $this->traceId;
    }

    /** The context as Bref's applications find it in LAMBDA_INVOCATION_CONTEXT. */
    public function toJson(): string
    {
        return (string) \json_encode([
            'awsRequestId' => $this->requestId,
            'deadlineMs' => $this->deadlineMillis,
            'invokedFunctionArn' => $this->functionArn,
            'traceId' => $this->traceId,
        ] + ($this->tenantId === '' ? [] : ['tenantId' => $this->tenantId]), \JSON_UNESCAPED_SLASHES | \JSON_INVALID_UTF8_SUBSTITUTE);
    }

    /** @return array<string, mixed> */
    private static function decode(?string $json): array
    {
        $value = $json === null || $json === '' ? [] : \json_decode($json, true);

        return \is_array($value) ? $value : [];
    }
}
