package dev.cetane.lambda;

/**
 * Which lines for CloudWatch's embedded metric format are written. Immutable.
 *
 * @param every with {@code SAMPLED} one of so many invocations has a line, with {@code AGGREGATED} so many share one; 1 to 100
 * @param function the dimension of all metrics
 * @param version a property of each line, as is {@code cpu}
 * @param cpu the model of the CPU, which differs between environments of one function
 */
public record MetricsConfig(Mode mode, int every, String function, String version, String cpu) {
    /** CloudWatch takes no more values of one metric in one line. */
    public static final int MOST_VALUES = 100;

    /** How many lines there are. */
    public enum Mode {
        OFF,
        SAMPLED,
        AGGREGATED
    }
}
