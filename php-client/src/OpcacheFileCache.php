<?php

declare(strict_types=1);

namespace Cetane;

/**
 * Code that `cetane warm` has compiled ahead: opcache's file cache, with a file beside it that says which PHP has made it.
 *
 * opcache itself looks at PHP's version and build only. What it has compiled also holds how to call the functions that there were, constants of
 * extensions, and values of settings that only php.ini can change: its optimizer puts them in the place of `ini_get()`. The PHP that uses it must
 * have the same.
 *
 * @internal
 */
final class OpcacheFileCache
{
    /** Name of that file in the directory of the cache. */
    public const MAKER = 'made-by';

    /** What else the compiler goes by. */
    private const COMPILER_SETTINGS = ['short_open_tag' => 1, 'zend.assertions' => 1, 'zend.multibyte' => 1];

    /** Settings that say where and how the cache itself is used. */
    private const OWN_SETTINGS = ['opcache.file_cache' => 1, 'opcache.file_cache_only' => 1, 'opcache.file_cache_consistency_checks' => 1];

    /** This PHP: extensions and settings, a line each. */
    public static function maker(): string
    {
        $extensions = [];
        foreach ([...\get_loaded_extensions(), ...\get_loaded_extensions(true)] as $extension) {
            $extensions[] = $extension . ' ' . \phpversion($extension);
        }
        \sort($extensions);
        $settings = [];
        foreach (\ini_get_all() as $name => $setting) {
            // 4: INI_SYSTEM, and nothing less.
            if (($setting['access'] === 4 || isset(self::COMPILER_SETTINGS[$name])) && !isset(self::OWN_SETTINGS[$name])) {
                $settings[] = $name . '=' . $setting['global_value'];
            }
        }
        \sort($settings);

        return \implode('; ', $extensions) . "\n" . \implode('; ', $settings) . "\n";
    }

    /** Turns opcache off for this process where the cache that it was started with was made by another PHP, and says so in the log. */
    public static function refuseForeign(): void
    {
        // Not by ini_get(): this file is compiled, too, and would name the directory of that time.
        $directory = \ini_get_all('zend opcache')['opcache.file_cache']['global_value'] ?? '';
        $made = $directory === '' ? false : @\file_get_contents($directory . '/' . self::MAKER);
        if ($made === false || $made === ($maker = self::maker())) {
            return;
        }
        // Under its other name: the client replaces the first one in front controllers, and is not there yet.
        \ini_alter('opcache.enable', '0');
        $there = \preg_split('/; |\n/', $made);
        $here = \preg_split('/; |\n/', $maker);
        \error_log('The code that cetane warm has compiled is not used, and opcache is off, because another PHP has made it. Only there: '
            . \implode('; ', \array_diff($there, $here)) . '. Only here: ' . \implode('; ', \array_diff($here, $there))
            . '. Run cetane warm with the PHP that runs the application.');
    }

    private function __construct()
    {
    }
}
