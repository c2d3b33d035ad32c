<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** The supervisor is gone: a frame could not be written. The next {@see \Cetane\Worker::wait()} returns null. */
final class ConnectionLost extends \RuntimeException
{
}
