package dev.cetane.files;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The form of a file that one client gets, and its validators. Immutable.
 *
 * @param file what is sent
 * @param contentType of what is inside, whatever its coding
 * @param coding in which it was compressed beforehand, null for the file as it is
 * @param varies whether other clients get another form
 */
record Representation(
        FoundFile file, String contentType, @Nullable ContentCoding coding, boolean varies) {

    /** Build tools that want the same bytes from each build set every file's time to this second or the one before: it tells nothing. */
    private static final long MEANINGLESS_SECOND = 1;

    /** What {@code root} has for the request; null when it has no such file. */
    static @Nullable Representation find(DocumentRoot root, FileRequest request, boolean precompressed) {
        FoundFile plain = root.find(request.path());
        if (plain == null) {
            return null;
        }
        MediaTypes.Type type = MediaTypes.of(request.path());
        if (!precompressed || !type.compressible()) {
            return new Representation(plain, type.text(), null, false);
        }
        Map<ContentCoding, FoundFile> compressed = new EnumMap<>(ContentCoding.class);
        for (ContentCoding coding : ContentCoding.values()) {
            FoundFile file = root.find(request.path() + coding.extension());
            if (file != null) {
                compressed.put(coding, file);
            }
        }
        List<ContentCoding> available = new ArrayList<>(compressed.keySet());
        ContentCoding chosen = ContentCoding.choose(request.acceptEncoding(), available);
        FoundFile file = chosen == null ? plain : compressed.getOrDefault(chosen, plain);
        return new Representation(file, type.text(), chosen, !available.isEmpty());
    }

    /** Strong: it changes with the file's time, to the nanosecond, and with its size. Null when the file's time tells nothing. */
    @Nullable
    String entityTag() {
        if (!timed()) {
            return null;
        }
        String tag = Long.toHexString(file.modified().to(TimeUnit.NANOSECONDS)) + "-" + Long.toHexString(file.size());
        return "\"" + tag + (coding == null ? "" : "-" + coding.token()) + "\"";
    }

    /** Seconds since the epoch; null when the file's time tells nothing. */
    @Nullable
    Long lastModified() {
        return timed() ? Long.valueOf(Math.floorDiv(file.modified().toMillis(), 1000L)) : null;
    }

    private boolean timed() {
        return file.modified().to(TimeUnit.SECONDS) > MEANINGLESS_SECOND;
    }
}
