<?php

declare(strict_types=1);

namespace Cetane;

/** No task had ended when the time was over that was to be waited. */
class TaskTimeout extends \RuntimeException
{
}
