<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

/** The time of an invocation is nearly over, so what runs was interrupted. */
final class DeadlineNear extends \RuntimeException
{
}
