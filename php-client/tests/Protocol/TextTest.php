<?php

declare(strict_types=1);

namespace Cetane\Tests\Protocol;

use Cetane\Protocol\Text;
use PHPUnit\Framework\TestCase;

/** @covers \Cetane\Protocol\Text */
final class TextTest extends TestCase
{
    public function testAMessageThatFitsIsKept(): void
    {
        foreach (['', 'a', 'grün <b> &amp; "x"', \str_repeat('x', 65_523)] as $message) {
            self::assertSame($message, Text::fit($message));
        }
    }

    public function testMalformedSequencesAreReplaced(): void
    {
        self::assertSame("a\u{FFFD}b <&amp;>", Text::fit("a\xffb <&amp;>"));
    }

    public function testAMessageThatIsTooLongIsCutBetweenCharacters(): void
    {
        foreach (['x', 'ü', '€', '😀'] as $character) {
            for ($shift = 0; $shift < 4; $shift++) {
                $cut = Text::fit(\str_repeat('-', $shift) . \str_repeat($character, 40_000 * 2));
                self::assertLessThanOrEqual(65_523, \strlen($cut));
                self::assertGreaterThan(65_510, \strlen($cut));
                self::assertSame(1, \preg_match('//u', $cut));
                self::assertStringEndsWith('…', $cut);
            }
        }
    }
}
