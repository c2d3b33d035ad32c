package dev.cetane;

import java.util.List;

/** The configuration is wrong. The message lists every problem, one a line. */
final class ConfigException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient List<Problem> problems;

    /**
     * One wrong value.
     *
     * @param key the key, or the variable or flag where no key is known
     * @param complaint what is wrong with it and what is allowed
     * @param origin where it was given, as in {@code cetane.yaml:4}, {@code CETANE_POOL_WORKERS} or {@code --workers}
     */
    record Problem(String key, String complaint, String origin) {
        @Override
        public String toString() {
            return key + " " + complaint + " (" + origin + ")";
        }
    }

    ConfigException(List<Problem> problems) {
        super(message(problems));
        this.problems = List.copyOf(problems);
    }

    List<Problem> problems() {
        return problems;
    }

    private static String message(List<Problem> problems) {
        StringBuilder message = new StringBuilder("the configuration has ")
                .append(problems.size())
                .append(problems.size() == 1 ? " problem:" : " problems:");
        for (Problem problem : problems) {
            message.append("\n  ").append(problem);
        }
        return message.toString();
    }
}
