<?php

declare(strict_types=1);

/** Variables as JSON, with types, the order of keys, and bytes that are no UTF-8; files by their content and mode. */
function dump_form(array $post, array $files): string
{
    $dump = static function (mixed $value, int $depth, bool $isPath) use (&$dump): mixed {
        if (is_array($value)) {
            $entries = [];
            foreach ($value as $key => $inner) {
                $entries[] = [
                    is_int($key) ? $key : 'k:' . addcslashes($key, "\0..\37\\\177..\377"),
                    $dump($inner, $depth + 1, $isPath || ($depth === 1 && $key === 'tmp_name')),
                ];
            }

            return $entries;
        }
        if ($isPath && is_string($value) && $value !== '') {
            clearstatcache();
            $content = (string) file_get_contents($value);

            return sprintf(
                'file %o %d %s',
                fileperms($value) & 0777,
                strlen($content),
                strlen($content) > 200 ? sha1($content) : addcslashes($content, "\0..\37\\\177..\377"),
            );
        }

        return is_string($value) ? 's:' . (strlen($value) > 2000 ? strlen($value) . ' ' . sha1($value) : addcslashes($value, "\0..\37\\\177..\377")) : $value;
    };

    return json_encode([$dump($post, 9, false), $dump($files, 0, false)], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n";
}
