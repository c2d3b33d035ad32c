package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.ColdStarts.Comparison;
import dev.cetane.ColdStarts.Start;
import dev.cetane.ColdStarts.Times;
import org.junit.jupiter.api.Test;

/** What is made of the times of cold starts. */
final class ColdStartsTest {
    @Test
    void theMiddleAndTheQuartilesAreOfTheSortedTimes() {
        assertThat(Times.of(7, 1, 3, 6, 2, 5, 4)).isEqualTo(new Times(2, 4, 6));
        assertThat(Times.of(5)).isEqualTo(new Times(5, 5, 5));
    }

    @Test
    void aDifferenceIsClearWhereTheMiddleHalvesDoNotTouch() {
        Times slow = new Times(90, 100, 110);
        assertThat(new Comparison(slow, new Times(70, 80, 89)).isClear()).isTrue();
        assertThat(new Comparison(new Times(70, 80, 89), slow).isClear())
                .as("a loss")
                .isTrue();
        assertThat(new Comparison(slow, new Times(70, 80, 90)).isClear()).isFalse();
        assertThat(new Comparison(slow, new Times(70, 80, 90)).saved()).isEqualTo(20);
    }

    @Test
    void startsAreAlikeWithTheSameStatusOrWhereBothRequestsFail() {
        Start good = new Start(1, 200, "");
        assertThat(good.isLike(new Start(9, 200, ""))).isTrue();
        assertThat(good.isLike(new Start(1, 500, ""))).isFalse();
        assertThat(good.isLike(new Start(1, 0, "died"))).isFalse();
        assertThat(new Start(1, 0, "died").isLike(new Start(1, 0, "died otherwise")))
                .isTrue();
        assertThat(new Start(1, 0, "").isLike(new Start(1, 0, "died"))).isFalse();
    }
}
