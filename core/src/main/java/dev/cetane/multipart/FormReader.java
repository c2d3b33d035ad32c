package dev.cetane.multipart;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a multipart form as PHP does: decides of each part whether it is registered, as what, and with which error. Not thread-safe.
 *
 * <p>Names are passed on as they came: it is PHP's own code that makes trees of them. What is written is described in PROTOCOL.md
 * §4.2.1.
 */
public final class FormReader {
    /** What PHP passes on of a file at a time: it looks at the limits of a file's size after each. */
    private static final int PHP_BLOCK_BYTES = 5 * 1024 - 1;

    /** As much of the field MAX_FILE_SIZE as can hold a number. */
    private static final int LONGEST_NUMBER = 64;

    private static final int OK = 0;
    private static final int INI_SIZE = 1;
    private static final int FORM_SIZE = 2;
    private static final int PARTIAL = 3;
    private static final int NO_FILE = 4;

    /** Bytes that mean themselves in a text field, whatever PHP takes for a separator of arguments. */
    private static final boolean[] PLAIN = new boolean[256];

    static {
        for (int b = 0; b < 256; b++) {
            PLAIN[b] = b >= 0x80 || Character.isLetterOrDigit(b) || " \t\r\n-_.~".indexOf(b) >= 0;
        }
    }

    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    /** What PHP would have warned of, and which setting bounds it. */
    public enum Notice {
        FIELDS("more text fields than max_input_vars"),
        UPLOADS("more files than max_file_uploads"),
        PARTS("more parts than max_multipart_body_parts"),
        GARBLED("a part has neither name nor file name");

        private final String text;

        Notice(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private final FormLimits limits;
    private final FormStorage storage;
    private final MultipartParser parser;
    private final byte[] out = new byte[4096];
    private int outBytes;
    private final EnumSet<Notice> notices = EnumSet.noneOf(Notice.class);

    private long fields;
    private boolean anyField;
    private long uploads;
    private long parts;
    private int anonymous;
    private boolean refusesUploads;
    private long maxFileSize;

    // The part that is being read.
    private boolean isFile;
    private boolean registered;
    private @Nullable StringBuilder number;
    private String name = "";
    private String fileName = "";
    private String type = "";
    private String path = "";
    private long length;
    private boolean stored;

    public FormReader(Delimiter delimiter, FormLimits limits, FormStorage storage) {
        this.limits = limits;
        this.storage = storage;
        this.parser = new MultipartParser(delimiter, new Parts());
    }

    /**
     * Takes the next bytes of the body, from position to limit. The storage gets those of files in this very buffer, its position and
     * limit set, where they are in it as a whole.
     *
     * @throws PartHeadersTooLargeException the reader is then of no further use
     */
    public void read(ByteBuffer bytes) throws PartHeadersTooLargeException {
        parser.read(bytes);
    }

    /** The body has ended. */
    public void finish() {
        parser.finish();
    }

    /** What was left out so far, and why. */
    public Set<Notice> notices() {
        return Collections.unmodifiableSet(notices);
    }

    private MultipartParser.Next begin(PartHeaders headers) {
        if (!headers.hasDisposition()) {
            return MultipartParser.Next.SKIP;
        }
        if (++parts > limits.maxParts()) {
            notices.add(Notice.PARTS);
            return MultipartParser.Next.STOP;
        }
        String givenName = headers.name();
        String givenFileName = headers.fileName();
        if (givenFileName == null && givenName != null) {
            beginField(givenName);
            return MultipartParser.Next.READ;
        }
        if (!limits.uploads()) {
            refusesUploads = true;
        } else if (uploads >= limits.maxUploads()) {
            refusesUploads = true;
            if (limits.maxUploads() > 0) {
                notices.add(Notice.UPLOADS);
            }
        }
        if (givenFileName == null) {
            notices.add(Notice.GARBLED);
            return MultipartParser.Next.STOP;
        }
        name = givenName == null ? Integer.toString(anonymous++) : givenName;
        // Not only this file is left out: PHP registers none after it either.
        refusesUploads = refusesUploads || !isWellFormed(name);
        if (refusesUploads) {
            return MultipartParser.Next.SKIP;
        }
        return beginFile(givenFileName, headers);
    }

    private void beginField(String givenName) {
        isFile = false;
        registered = ++fields <= limits.maxFields();
        number = givenName.equalsIgnoreCase("MAX_FILE_SIZE") ? new StringBuilder() : null;
        if (registered) {
            if (anyField) {
                put('&');
            }
            anyField = true;
            encode(ByteBuffer.wrap(givenName.getBytes(StandardCharsets.ISO_8859_1)));
            put('=');
        } else {
            notices.add(Notice.FIELDS);
        }
    }

    private MultipartParser.Next beginFile(String givenFileName, PartHeaders headers) {
        isFile = true;
        fileName = givenFileName;
        type = headers.type();
        length = 0;
        path = "";
        if (givenFileName.isEmpty()) {
            type = "";
            register(NO_FILE);
            return MultipartParser.Next.SKIP;
        }
        uploads++;
        path = storage.beginUpload();
        stored = true;
        return MultipartParser.Next.READ;
    }

    private void data(ByteBuffer bytes) {
        if (isFile) {
            length += bytes.remaining();
            if (stored && isTooLong(length)) {
                stored = false;
                storage.endUpload(false);
            } else if (stored) {
                storage.upload(bytes);
            }
            return;
        }
        StringBuilder digits = number;
        for (int i = bytes.position(); digits != null && i < bytes.limit() && digits.length() < LONGEST_NUMBER; i++) {
            digits.append((char) (bytes.get(i) & 0xFF));
        }
        if (registered) {
            encode(bytes);
        }
    }

    private void end(boolean byDelimiter) {
        if (!isFile) {
            flush();
            if (number != null) {
                maxFileSize = parse(number);
                number = null;
            }
            return;
        }
        int error = isTooLong(length) ? tooLong() : byDelimiter ? OK : PARTIAL;
        if (stored) {
            storage.endUpload(error == OK);
        }
        if (error != OK) {
            type = "";
            path = "";
            length = 0;
        }
        register(error);
    }

    private boolean isTooLong(long bytes) {
        return (limits.uploadMaxBytes() > 0 && bytes > limits.uploadMaxBytes())
                || (maxFileSize != 0 && bytes > 0 && bytes > maxFileSize);
    }

    /** Of the two limits PHP names the one that it meets first, and php.ini's when one block of the file exceeds both. */
    private int tooLong() {
        long lowest = limits.uploadMaxBytes() > 0 ? limits.uploadMaxBytes() : Long.MAX_VALUE;
        if (maxFileSize != 0) {
            lowest = Math.min(lowest, Math.max(0, maxFileSize));
        }
        long read = Math.min(length, (lowest / PHP_BLOCK_BYTES + 1) * PHP_BLOCK_BYTES);
        return limits.uploadMaxBytes() > 0 && read > limits.uploadMaxBytes() ? INI_SIZE : FORM_SIZE;
    }

    /** Adds the file to the list. */
    private void register(int error) {
        column(name);
        column(fileName.substring(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1));
        column(fileName);
        column(type);
        column(path);
        column(Integer.toString(error));
        column(Long.toString(length));
    }

    private void column(String text) {
        ByteBuffer bytes = ByteBuffer.wrap((text + '\0').getBytes(StandardCharsets.ISO_8859_1));
        storage.files(bytes);
    }

    private void encode(ByteBuffer bytes) {
        int used = outBytes;
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            if (used > out.length - 3) {
                outBytes = used;
                flush();
                used = 0;
            }
            byte b = bytes.get(i);
            if (PLAIN[b & 0xFF]) {
                out[used++] = b;
            } else {
                out[used++] = '%';
                out[used++] = HEX[(b & 0xF0) >> 4];
                out[used++] = HEX[b & 0x0F];
            }
        }
        outBytes = used;
    }

    private void put(char c) {
        if (outBytes == out.length) {
            flush();
        }
        out[outBytes++] = (byte) c;
    }

    private void flush() {
        if (outBytes > 0) {
            storage.fields(ByteBuffer.wrap(out, 0, outBytes));
            outBytes = 0;
        }
    }

    /** Whether the brackets of an upload's name pair up and nothing stands behind one; PHP drops others as malicious. */
    private static boolean isWellFormed(String name) {
        int open = 0;
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) == '[') {
                open++;
            } else if (name.charAt(i) == ']') {
                open--;
                if (open < 0 || (i + 1 < name.length() && name.charAt(i + 1) != '[')) {
                    return false;
                }
            }
        }
        return open == 0;
    }

    /** The number that a text begins with, as C's strtoll has it: white space, sign, digits; too large ones stay in range. */
    private static long parse(CharSequence text) {
        int at = 0;
        while (at < text.length() && PartHeaders.isSpace(text.charAt(at))) {
            at++;
        }
        boolean negative = at < text.length() && text.charAt(at) == '-';
        if (negative || (at < text.length() && text.charAt(at) == '+')) {
            at++;
        }
        long number = 0;
        for (; at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9'; at++) {
            int digit = text.charAt(at) - '0';
            if (number > (Long.MAX_VALUE - digit) / 10) {
                return negative ? Long.MIN_VALUE : Long.MAX_VALUE;
            }
            number = number * 10 + digit;
        }
        return negative ? -number : number;
    }

    private final class Parts implements MultipartParser.PartHandler {
        @Override
        public MultipartParser.Next begin(PartHeaders headers) {
            return FormReader.this.begin(headers);
        }

        @Override
        public void data(ByteBuffer bytes) {
            FormReader.this.data(bytes);
        }

        @Override
        public void end(boolean byDelimiter) {
            FormReader.this.end(byDelimiter);
        }
    }
}
