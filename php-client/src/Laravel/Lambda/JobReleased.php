<?php

declare(strict_types=1);

namespace Cetane\Laravel\Lambda;

/** A job is to be tried again. */
final class JobReleased extends \RuntimeException
{
}
