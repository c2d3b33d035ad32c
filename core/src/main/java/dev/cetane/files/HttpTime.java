package dev.cetane.files;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Points in time as HTTP writes them (RFC 9110, 5.6.7), to the second. Callable from any thread. */
final class HttpTime {
    private static final DateTimeFormatter PREFERRED =
            DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.US);

    /** How far in the future a year of two digits may seem to lie before it means the one of the last century. */
    private static final int MOST_YEARS_AHEAD = 50;

    private HttpTime() {}

    static String format(long epochSecond) {
        return PREFERRED.format(LocalDateTime.ofEpochSecond(epochSecond, 0, ZoneOffset.UTC));
    }

    /**
     * Seconds since the epoch, or null when the text has none of the three forms.
     *
     * @param now gives years of two digits their century
     */
    static @Nullable Long parse(String text, Instant now) {
        for (DateTimeFormatter form : forms(now)) {
            try {
                return LocalDateTime.parse(text, form).toEpochSecond(ZoneOffset.UTC);
            } catch (DateTimeException e) {
                // Maybe the next one.
            }
        }
        return null;
    }

    private static List<DateTimeFormatter> forms(Instant now) {
        int base = now.atOffset(ZoneOffset.UTC).getYear() + MOST_YEARS_AHEAD - 99;
        DateTimeFormatter rfc850 = new DateTimeFormatterBuilder()
                .appendPattern("EEEE, dd-MMM-")
                .appendValueReduced(ChronoField.YEAR, 2, 2, base)
                .appendPattern(" HH:mm:ss 'GMT'")
                .toFormatter(Locale.US);
        DateTimeFormatter asctime = DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US);
        return List.of(PREFERRED, rfc850, asctime);
    }
}
