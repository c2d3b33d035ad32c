<?php

declare(strict_types=1);

namespace Cetane\Tests\Symfony\Application;

use Symfony\Component\HttpKernel\Event\TerminateEvent;

/** Says what has terminated. */
final class Terminated
{
    public function say(TerminateEvent $event): void
    {
        \error_log('terminated ' . $event->getRequest()->getPathInfo() . ' with ' . $event->getResponse()->getStatusCode());
    }
}
