<?php

declare(strict_types=1);

namespace Cetane;

/** Looks for what makes a script impossible to include twice: functions and classes that it declares unconditionally. */
final class TopLevelDeclaration
{
    private const KINDS = [\T_FUNCTION => 'function', \T_CLASS => 'class', \T_INTERFACE => 'interface', \T_TRAIT => 'trait'];

    /** @return string|null e.g. "function greet() on line 3"; null when there is none, or the tokenizer extension is missing */
    public static function find(string $script): ?string
    {
        if (!\class_exists(\PhpToken::class)) {
            return null;
        }
        $kinds = self::KINDS + (\defined('T_ENUM') ? [\constant('T_ENUM') => 'enum'] : []);
        $tokens = \array_values(\array_filter(
            \PhpToken::tokenize((string) \file_get_contents($script)),
            static fn (\PhpToken $token): bool => !$token->isIgnorable(),
        ));
        $depth = 0;
        $inNamespace = false;
        foreach ($tokens as $index => $token) {
            if ($token->is(\T_NAMESPACE)) {
                $inNamespace = true;
            } elseif ($token->text === ';') {
                $inNamespace = false;
            } elseif ($token->is(['{', \T_CURLY_OPEN, \T_DOLLAR_OPEN_CURLY_BRACES, '(', '[', \T_ATTRIBUTE])) {
                // The braces of "namespace X { }" are no condition.
                $depth += $inNamespace && $token->text === '{' ? 0 : 1;
                $inNamespace = false;
            } elseif ($token->is(['}', ')', ']'])) {
                $depth = \max(0, $depth - 1);
            } elseif ($depth === 0 && isset($kinds[$token->id])) {
                $name = $tokens[$index + 1] ?? null;
                if ($name?->text === '&') {
                    $name = $tokens[$index + 2] ?? null;
                }
                if ($name !== null && $name->is(\T_STRING) && !($tokens[$index - 1] ?? $token)->is([\T_USE, \T_DOUBLE_COLON, \T_NEW])) {
                    return $kinds[$token->id] . ' ' . $name->text . ($token->is(\T_FUNCTION) ? '()' : '') . " on line $token->line";
                }
            }
        }

        return null;
    }

    private function __construct()
    {
    }
}
