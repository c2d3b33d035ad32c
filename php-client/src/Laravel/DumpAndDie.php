<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Error;
use Illuminate\Http\Response;
use Symfony\Component\VarDumper\VarDumper;

/**
 * `dd()` in a persistent worker: ends the request, not the process. Laravel's exception handler finds {@see render()} and makes the dump the
 * answer, with status 500 as under php-fpm, below what was dumped or printed before.
 */
final class DumpAndDie extends Error
{
    /** HTML */
    public readonly string $dump;

    /**
     * @param array<mixed> $vars what to dump
     */
    public function __construct(array $vars)
    {
        parent::__construct('dd() ended the request');
        ob_start();
        try {
            foreach ($vars as $var) {
                VarDumper::dump($var);
            }
        } finally {
            $this->dump = (string) ob_get_clean();
        }
    }

    /**
     * Nothing to log: the dump is for who asked.
     */
    public function report(): bool
    {
        return true;
    }

    public function render(): Response
    {
        return new Response($this->dump, 500);
    }
}
