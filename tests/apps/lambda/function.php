<?php

/* A function for events of AWS Lambda: `do` says what. */

declare(strict_types=1);

use Cetane\Lambda\Context;
use Cetane\Lambda\Handler;

Handler::run(static function (mixed $event, Context $context): mixed {
    switch (is_array($event) ? $event['do'] ?? 'echo' : 'echo') {
        case 'echo':
            return [
                'event' => $event,
                'requestId' => $context->requestId,
                'tenant' => $context->tenantId,
                'client' => $context->clientContext,
                'remaining' => $context->remainingMillis(),
                'arn' => $context->functionArn,
            ];
        case 'pid':
            return getmypid();
        case 'length':
            return strlen($event['text']);
        case 'large':
            return str_repeat('x', $event['bytes']);
        case 'wait':
            usleep(300_000);

            return getmypid();
        case 'throw':
            throw new DomainException('out of stock', 0, new LogicException('the cause'));
        case 'exit':
            exit(3);
        case 'hang':
            while (true) {
                usleep(10_000);
            }
    }

    return null;
});
