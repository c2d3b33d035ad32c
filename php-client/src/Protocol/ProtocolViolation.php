<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** The supervisor sent something that the protocol does not allow here. Nothing is resynchronised: the worker reports it and exits. */
final class ProtocolViolation extends \RuntimeException
{
}
