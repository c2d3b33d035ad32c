package dev.cetane.multipart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What holds for any input; that forms are read as PHP reads them is the {@link FormOracleTest}'s. */
final class FormReaderTest {
    private static final Delimiter B = Objects.requireNonNull(Delimiter.of(FormCases.TYPE));

    @TempDir
    Path directory;

    private FormReader reader(FilesStorage storage, FormLimits limits) {
        return new FormReader(B, limits, storage);
    }

    /** Nothing that a client sends makes more files than PHP allows, leaves one open, or makes texts longer than its own. */
    @Test
    void garbageIsBounded() throws Exception {
        FormLimits limits = new FormLimits(0, 50, 3, 5, 10, true);
        String[] tokens = {
            "--B\r\n",
            "\r\n--B\r\n",
            "\r\n--B--\r\n",
            "Content-Disposition: form-data; name=\"a[]\"",
            "; filename=\"x\"",
            "; filename=\"\"",
            "\r\n\r\n",
            "\r\n",
            "\n",
            "--",
            "x",
            "\0",
            "Content-Type: a/b"
        };
        Random random = new Random(7);
        for (int round = 0; round < 500; round++) {
            StringBuilder body = new StringBuilder();
            byte[] noise = new byte[random.nextInt(200)];
            for (int i = random.nextInt(200); i >= 0; i--) {
                body.append(tokens[random.nextInt(tokens.length)]);
                if (random.nextInt(8) == 0) {
                    random.nextBytes(noise);
                    body.append(new String(noise, StandardCharsets.ISO_8859_1));
                }
            }
            FilesStorage storage = new FilesStorage(directory);
            FormReader reader = reader(storage, limits);
            byte[] bytes = body.toString().getBytes(StandardCharsets.ISO_8859_1);
            for (int at = 0, piece; at < bytes.length; at += piece) {
                piece = Math.min(1 + random.nextInt(100), bytes.length - at);
                reader.read(ByteBuffer.wrap(bytes, at, piece));
            }
            reader.finish();
            assertThat(storage.uploadsBegun()).isLessThanOrEqualTo(3);
            assertThat(storage.uploadsOpen()).isZero();
            assertThat(storage.textBytes()).isLessThanOrEqualTo(4 * bytes.length + 10 * 100);
        }
    }

    @Test
    void filesOfABufferAreGivenInThatVeryBuffer() throws Exception {
        byte[] body = FormCases.form(FormCases.file("f", "n", "content"), FormCases.file("g", "m", "more"))
                .getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer in = ByteBuffer.wrap(body);
        FilesStorage storage = new FilesStorage(directory) {
            @Override
            public void upload(ByteBuffer bytes) {
                assertThat(bytes).isSameAs(in);
                super.upload(bytes);
            }
        };
        FormReader reader = reader(storage, FormLimits.PHP_DEFAULTS);
        reader.read(in);
        reader.finish();
        assertThat(in.hasRemaining()).isFalse();
        assertThat(storage.uploadsBegun()).isEqualTo(2);
    }

    /** A header that never ends, a line that never ends, lines that never end: each is refused before it is kept. */
    @Test
    void theHeadOfAPartIsBounded() throws Exception {
        for (String endless : new String[] {"x", "X-Header: y\r\n", " folded\r\n", ":", "a\n"}) {
            FormReader reader = reader(new FilesStorage(directory), FormLimits.PHP_DEFAULTS);
            reader.read(ByteBuffer.wrap("--B\r\nX: y\r\n".getBytes(StandardCharsets.ISO_8859_1)));
            byte[] piece = endless.repeat(200_000 / endless.length()).getBytes(StandardCharsets.ISO_8859_1);
            assertThatExceptionOfType(PartHeadersTooLargeException.class)
                    .isThrownBy(() -> reader.read(ByteBuffer.wrap(piece)))
                    .withMessageContaining("65536");
        }
    }

    @Test
    void nothingBehindTheLastPartThatCountsIsLookedAt() throws Exception {
        FormReader reader = reader(new FilesStorage(directory), new FormLimits(0, 0, 1, 1, 1, true));
        String body = FormCases.form(FormCases.field("a", "1"), FormCases.field("b", "2"));
        reader.read(ByteBuffer.wrap(body.getBytes(StandardCharsets.ISO_8859_1)));
        assertThat(reader.notices()).containsExactly(FormReader.Notice.PARTS);
        // Would be refused otherwise.
        reader.read(ByteBuffer.wrap(("--B\r\n" + "x".repeat(100_000)).getBytes(StandardCharsets.ISO_8859_1)));
        reader.finish();
    }

    @Test
    void factsThatAreMissingOrNoNumbersHaveTheDefaultsOfPhp() {
        assertThat(FormLimits.of(Map.of())).isEqualTo(FormLimits.PHP_DEFAULTS);
        assertThat(FormLimits.of(Map.of(
                        "post-max-size", "-1",
                        "upload-max-filesize", "2M",
                        "max-file-uploads", "",
                        "max-input-vars", "9999999999999999999",
                        "file-uploads", "x")))
                .isEqualTo(FormLimits.PHP_DEFAULTS);
        assertThat(FormLimits.of(Map.of(
                        "post-max-size", "1",
                        "upload-max-filesize", "2",
                        "max-file-uploads", "3",
                        "max-input-vars", "4",
                        "max-multipart-body-parts", "5",
                        "file-uploads", "0")))
                .isEqualTo(new FormLimits(1, 2, 3, 4, 5, false));
    }
}
