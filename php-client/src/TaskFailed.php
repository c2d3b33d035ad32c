<?php

declare(strict_types=1);

namespace Cetane;

/** A task has thrown an exception, could not be run, or has not been survived by its worker. */
class TaskFailed extends \RuntimeException
{
    /** Class of what was thrown; empty when the task did not come to that. */
    public readonly string $class;

    final public function __construct(string $message, string $class = '', int $code = 0, string $file = '', int $line = 0)
    {
        parent::__construct($message, $code);
        $this->class = $class;
        if ($file !== '') {
            $this->file = $file;
            $this->line = $line;
        }
    }

    /** @internal what a worker says of an exception that has ended a task */
    public static function pack(\Throwable $error): string
    {
        return \serialize([$error->getMessage(), $error::class, (int) $error->getCode(), $error->getFile(), $error->getLine()]);
    }

    /** @internal */
    public static function unpack(string $packed): self
    {
        $facts = @\unserialize($packed, ['allowed_classes' => false]);

        return \is_array($facts) ? new self(...$facts) : new self('The task failed, and its worker has not said how.');
    }
}
