package dev.cetane.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The ERROR frame, PROTOCOL.md §5.7. Immutable.
 *
 * @param kind what failed and so what follows
 * @param message for the log; may hold any character. To a client in debug mode only
 */
public record ErrorReport(Kind kind, String message) {

    /** What failed. */
    public enum Kind {
        /** An exception left the handler; DONE follows. */
        EXCEPTION(1),
        /** Fatal error or out of memory; DONE with LAST follows, then exit. */
        FATAL(2),
        /** The application could not be booted; exit follows. */
        BOOT(3),
        /** The supervisor broke the rules; exit follows. */
        PROTOCOL(4);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        static @Nullable Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }
}
