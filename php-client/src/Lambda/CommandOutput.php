<?php

declare(strict_types=1);

namespace Cetane\Lambda;

use Symfony\Component\Console\Formatter\OutputFormatterInterface;
use Symfony\Component\Console\Output\Output;

/** What a command of symfony/console prints: goes to the log, and its end is kept. */
final class CommandOutput extends Output
{
    /** Leaves room below the 6 MB of an answer for what JSON makes longer. */
    private const KEPT_BYTES = 2_000_000;

    private string $kept = '';

    public function __construct(?int $verbosity = self::VERBOSITY_NORMAL, bool $decorated = false, ?OutputFormatterInterface $formatter = null)
    {
        parent::__construct($verbosity, $decorated, $formatter);
    }

    /** The last of what was printed, as valid UTF-8. */
    public function end(): string
    {
        return \mb_scrub(\substr($this->kept, -self::KEPT_BYTES), 'UTF-8');
    }

    protected function doWrite(string $message, bool $newline): void
    {
        $message .= $newline ? \PHP_EOL : '';
        echo $message;
        $this->kept .= $message;
        if (\strlen($this->kept) > 2 * self::KEPT_BYTES) {
            $this->kept = \substr($this->kept, -self::KEPT_BYTES);
        }
    }
}
