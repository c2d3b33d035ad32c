package dev.cetane.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reasons as people read them. */
final class FileReasonTest {

    @TempDir
    private Path directory;

    private interface Use {
        void run() throws IOException;
    }

    private static String reason(Use use) {
        try {
            use.run();
        } catch (IOException e) {
            return FileReason.of(e);
        }
        throw new AssertionError("nothing went wrong");
    }

    @Test
    void what_the_jdk_says_by_the_path_alone_is_said_in_words() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "text");
        assertThat(reason(() -> Files.readString(directory.resolve("none")))).isEqualTo("no such file or directory");
        assertThat(reason(() -> Files.createDirectory(file))).isEqualTo("something of that name is there");
        assertThat(FileReason.of(new NotDirectoryException("/x"))).isEqualTo("it is no directory");
        assertThat(reason(() -> Files.delete(directory))).isEqualTo("it is not empty");
        assertThat(reason(() -> Files.readString(file.resolve("below")))).isEqualTo("Not a directory");
        assertThat(FileReason.of(new AccessDeniedException("/x"))).isEqualTo("permission denied");
    }

    @Test
    void a_reason_that_is_given_is_kept_and_never_the_path_repeated() {
        assertThat(FileReason.of(new FileSystemException("/x", null, "No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(FileReason.of(new FileSystemException("/x", null, "Too many open files")))
                .isEqualTo("Too many open files, raise their limit (ulimit -n)");
        assertThat(FileReason.of(new NoSuchFileException("/x", null, "it has just changed")))
                .isEqualTo("it has just changed");
        assertThat(FileReason.of(new FileAlreadyExistsException("/x"))).doesNotContain("/x");
        assertThat(FileReason.of(new NotDirectoryException("/x"))).doesNotContain("/x");
        assertThat(FileReason.of(new IOException("it is not writable"))).isEqualTo("it is not writable");
        assertThat(FileReason.of(new IOException())).isEqualTo("java.io.IOException");
    }
}
