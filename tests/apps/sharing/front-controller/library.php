<?php

declare(strict_types=1);

function whoAmI(): array
{
    echo 'printed by a task';

    return ['pid' => getmypid(), 'sapi' => PHP_SAPI, 'query' => $_GET];
}

final class Greeting
{
    public function __construct(private readonly string $name)
    {
    }

    public function __invoke(): string
    {
        return "Hello, $this->name!";
    }
}
