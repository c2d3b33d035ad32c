<?php

declare(strict_types=1);

namespace Laravel\Octane\Exceptions;

use InvalidArgumentException;

class ValueTooLargeForColumnException extends InvalidArgumentException
{
}
