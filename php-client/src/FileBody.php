<?php

declare(strict_types=1);

namespace Cetane;

/** A part of a file as the body of a {@see Response}. */
final class FileBody
{
    public readonly string $path;
    public readonly int $length;

    /**
     * @param int $offset first byte to send
     * @param int|null $length bytes to send, null for all from $offset on
     * @param bool $delete whether the file is deleted once it was sent or the answer has failed
     *
     * @throws \InvalidArgumentException when there is no such file, or the part lies outside it
     */
    public function __construct(
        string $path,
        public readonly int $offset = 0,
        ?int $length = null,
        public readonly bool $delete = false,
    ) {
        $absolute = \realpath($path);
        if ($absolute === false || !\is_file($absolute)) {
            throw new \InvalidArgumentException("There is no file $path.");
        }
        \clearstatcache(true, $absolute);
        $size = (int) \filesize($absolute);
        $length ??= $size - $offset;
        if ($offset < 0 || $length < 0 || $offset + $length > $size) {
            throw new \InvalidArgumentException("Bytes $offset to " . ($offset + $length) . " lie outside $path, which has $size.");
        }
        $this->path = $absolute;
        $this->length = $length;
    }
}
