<?php

declare(strict_types=1);

namespace Cetane;

/**
 * php://input for the running request. It stands in for the built-in php:// wrapper only while a request with a body runs, and hands
 * every other php:// stream on to that.
 *
 * @internal
 */
final class InputStream
{
    private static ?Request $request = null;

    /** @var resource|null set by PHP */
    public $context;
    /** @var resource */
    private $inner;
    private bool $isInput = false;

    public static function register(Request $request): void
    {
        if (self::$request === null) {
            \stream_wrapper_unregister('php');
            \stream_wrapper_register('php', self::class);
        }
        self::$request = $request;
    }

    public static function unregister(): void
    {
        if (self::$request !== null) {
            self::$request = null;
            // Restoring alone would leave this wrapper in memory for ever.
            \stream_wrapper_unregister('php');
            \stream_wrapper_restore('php');
        }
    }

    public function stream_open(string $path, string $mode, int $options, ?string &$openedPath): bool
    {
        if (self::$request !== null && \strcasecmp($path, 'php://input') === 0) {
            $this->inner = self::$request->bodyStream();
            $this->isInput = true;

            return true;
        }
        $request = self::$request;
        $temporary = null;
        if ($request !== null && \preg_match('#^php://filter/(?:.*/)?resource=php://input$#iD', $path) === 1) {
            // PHP opens what is to be filtered by itself, and its own php://input is empty.
            $file = $request->bodyFile();
            if ($file === null) {
                $temporary = \tmpfile();
                \fwrite($temporary, $request->body());
                $file = \stream_get_meta_data($temporary)['uri'];
            }
            $path = \substr($path, 0, -\strlen('php://input')) . $file;
        }
        self::unregister();
        try {
            $inner = $this->context === null ? \fopen($path, $mode) : \fopen($path, $mode, false, $this->context);
        } finally {
            if ($request !== null) {
                self::register($request);
            }
            if ($temporary !== null) {
                \fclose($temporary); // open all the same
            }
        }
        if ($inner === false) {
            return false;
        }
        $this->inner = $inner;

        return true;
    }

    public function stream_read(int $count): string|false
    {
        return \fread($this->inner, $count);
    }

    public function stream_write(string $data): int
    {
        return $this->isInput ? 0 : (int) \fwrite($this->inner, $data);
    }

    public function stream_eof(): bool
    {
        return \feof($this->inner);
    }

    public function stream_seek(int $offset, int $whence): bool
    {
        return \fseek($this->inner, $offset, $whence) === 0;
    }

    public function stream_tell(): int
    {
        return (int) \ftell($this->inner);
    }

    public function stream_flush(): bool
    {
        return \fflush($this->inner);
    }

    public function stream_truncate(int $size): bool
    {
        return \ftruncate($this->inner, $size);
    }

    public function stream_lock(int $operation): bool
    {
        return $operation === 0 || \flock($this->inner, $operation);
    }

    /** @return array<int|string, int>|false */
    public function stream_stat(): array|false
    {
        return \fstat($this->inner);
    }

    public function stream_set_option(int $option, int $first, ?int $second): bool
    {
        return match ($option) {
            \STREAM_OPTION_BLOCKING => \stream_set_blocking($this->inner, $first === 1),
            \STREAM_OPTION_READ_TIMEOUT => \stream_set_timeout($this->inner, $first, $second ?? 0),
            default => false,
        };
    }

    /** @return resource */
    public function stream_cast(int $as)
    {
        return $this->inner;
    }

    public function stream_close(): void
    {
        \fclose($this->inner);
    }
}
