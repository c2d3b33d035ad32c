<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Thrown by flush() while an answer is streamed to a client that has left, unless ignore_user_abort() is on. PHP ends the script there;
 * a worker ends the request and lives on.
 */
final class ClientLeft extends \RuntimeException
{
}
