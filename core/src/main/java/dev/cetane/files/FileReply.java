package dev.cetane.files;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request for a file: status, fields, and the bytes that follow. Immutable.
 *
 * @param fields names and values in turn, {@code Content-Length} among them where the answer has one, without {@code Date} and {@code Connection}
 * @param file whose bytes are the body
 * @param offset of the first byte that is sent
 * @param length how many are sent; 0: the answer has no body
 */
public record FileReply(int status, String reason, List<String> fields, FoundFile file, long offset, long length) {

    private static final Duration FOR_EVER = Duration.ofDays(365);

    /** What a client may do with a file that never changes. */
    private static final String IMMUTABLE = "public, max-age=" + FOR_EVER.toSeconds() + ", immutable";

    /**
     * Looks for the file and decides. Waits for the disk.
     *
     * @return null when the document root has no such file
     */
    public static @Nullable FileReply to(
            FileRequest request, DocumentRoot root, StaticFilesConfig config, Instant now) {
        Representation form = Representation.find(root, request, config.precompressed());
        if (form == null) {
            return null;
        }
        String tag = form.entityTag();
        Long modified = form.lastModified();
        List<String> validators = validators(request, form, config, now);
        return switch (Preconditions.evaluate(request, tag, modified, now)) {
            case NOT_MODIFIED -> new FileReply(304, "Not Modified", validators, form.file(), 0, 0);
            case FAILED -> new FileReply(412, "Precondition Failed", List.of("Content-Length", "0"), form.file(), 0, 0);
            case SEND -> {
                ByteRange range = request.head()
                                || request.range() == null
                                || !Preconditions.rangeApplies(request, tag, modified, now)
                        ? null
                        : ByteRange.of(request.range(), form.file().size());
                yield send(request, form, validators, range);
            }
        };
    }

    private static FileReply send(
            FileRequest request, Representation form, List<String> validators, @Nullable ByteRange range) {
        FoundFile file = form.file();
        if (range != null && !range.satisfiable()) {
            return new FileReply(
                    416,
                    "Range Not Satisfiable",
                    List.of("Content-Range", "bytes */" + file.size(), "Content-Length", "0"),
                    file,
                    0,
                    0);
        }
        long start = range == null ? 0 : range.start();
        long length = range == null ? file.size() : range.length();
        List<String> fields = new ArrayList<>(validators);
        add(fields, "Content-Type", form.contentType());
        if (form.coding() != null) {
            add(fields, "Content-Encoding", form.coding().token());
        }
        add(fields, "X-Content-Type-Options", "nosniff");
        if (range == null) {
            add(fields, "Accept-Ranges", "bytes");
        } else {
            add(fields, "Content-Range", "bytes " + start + "-" + (start + length - 1) + "/" + file.size());
        }
        add(fields, "Content-Length", Long.toString(length));
        return new FileReply(
                range == null ? 200 : 206,
                range == null ? "OK" : "Partial Content",
                fields,
                file,
                start,
                request.head() ? 0 : length);
    }

    /** What a 304 says too, so that the client can keep what it has. */
    private static List<String> validators(
            FileRequest request, Representation form, StaticFilesConfig config, Instant now) {
        List<String> fields = new ArrayList<>(16);
        String tag = form.entityTag();
        if (tag != null) {
            add(fields, "ETag", tag);
        }
        Long modified = form.lastModified();
        // RFC 9110, 8.8.2.1: never later than the answer itself.
        if (modified != null && modified <= now.getEpochSecond()) {
            add(fields, "Last-Modified", HttpTime.format(modified));
        }
        if (form.varies()) {
            add(fields, "Vary", "Accept-Encoding");
        }
        if (config.immutable().stream().anyMatch(pattern -> pattern.matches(request.path()))) {
            add(fields, "Cache-Control", IMMUTABLE);
        } else if (!config.maxAge().isZero()) {
            add(fields, "Cache-Control", "public, max-age=" + config.maxAge().toSeconds());
        }
        return fields;
    }

    private static void add(List<String> fields, String name, String value) {
        fields.add(name);
        fields.add(value);
    }
}
