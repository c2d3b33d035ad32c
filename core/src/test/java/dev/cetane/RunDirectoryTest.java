package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunDirectoryTest {

    @TempDir
    Path parent;

    @Test
    void bothLevelsArePrivateAndTheInstanceIsRemovedOnClose() throws IOException {
        Path base = parent.resolve("a/run");

        RunDirectory directory = RunDirectory.create(base, 42);

        assertThat(directory.directory()).isEqualTo(base.resolve("42"));
        assertThat(mode(base)).isEqualTo("rwx------");
        assertThat(mode(directory.directory())).isEqualTo("rwx------");
        assertThat(RunDirectory.instances(base)).containsExactly(base.resolve("42"));

        Files.writeString(directory.directory().resolve("left"), "x");
        directory.close();

        assertThat(base.resolve("42")).doesNotExist();
        assertThat(RunDirectory.instances(base)).isEmpty();
    }

    @Test
    void whatADeadInstanceLeftIsRemovedAndALivingOneIsKept() throws IOException {
        Path base = parent.resolve("run");
        try (RunDirectory living = RunDirectory.create(base, 1)) {
            Files.createDirectories(base.resolve("2/spool"));
            Files.writeString(base.resolve("2/lock"), "");
            Path outside = Files.writeString(parent.resolve("outside"), "keep");
            Files.createSymbolicLink(base.resolve("2/spool/link"), outside);

            try (RunDirectory next = RunDirectory.create(base, 3)) {
                assertThat(RunDirectory.instances(base)).containsExactly(living.directory(), next.directory());
                assertThat(outside).exists();
            }
        }
    }

    @Test
    void theSameProcessIdMayBeUsedAgainAfterACrash() throws IOException {
        Path base = parent.resolve("run");
        RunDirectory.create(base, 7).close();
        Files.createDirectories(base.resolve("7"));

        RunDirectory again = RunDirectory.create(base, 7);

        assertThat(again.directory().resolve("lock")).exists();
        again.close();
    }

    @Test
    void aFileInTheWayIsNotTakenForAnotherInstance() throws IOException {
        Path base = Files.writeString(parent.resolve("file"), "x").resolve("run");

        assertThatThrownBy(() -> RunDirectory.create(base, 7))
                .isInstanceOf(CommandException.class)
                .hasMessage("the run directory " + base + " cannot be used: something of that name is there."
                        + " Set run-directory to one that this user may write");
    }

    @Test
    void twoInstancesWithOneProcessIdAreToldApart() {
        Path base = parent.resolve("run");
        try (RunDirectory first = RunDirectory.create(base, 7)) {
            assertThat(first.directory()).exists();
            assertThatThrownBy(() -> RunDirectory.create(base, 7))
                    .isInstanceOf(CommandException.class)
                    .hasMessage(
                            base.resolve("7") + " belongs to a running instance with the same process id, perhaps in"
                                    + " another container: give each its own run-directory");
        }
    }

    @Test
    void aDirectoryThatOthersCanEnterIsRefused() throws IOException {
        Path base = Files.createDirectory(
                parent.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));

        assertThatThrownBy(() -> RunDirectory.create(base, 1))
                .isInstanceOf(CommandException.class)
                .hasMessage("the directory " + base + " is open to others (mode 0750); run chmod 700 " + base
                        + ". Remove it, or set run-directory (http.spool-directory) to another one");
    }

    @Test
    void aSymbolicLinkIsRefused() throws IOException {
        Path base = Files.createSymbolicLink(parent.resolve("run"), Files.createDirectory(parent.resolve("real")));

        assertThatThrownBy(() -> RunDirectory.create(base, 1))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("is no directory, or a symbolic link");
    }

    @Test
    void theDefaultIsInTheRuntimeDirectoryOrElseInTmp() {
        String name = RunDirectory.defaults(Map.of()).get(0).getFileName().toString();

        assertThat(name).matches("cetane-[0-9]+");
        assertThat(RunDirectory.defaults(Map.of())).containsExactly(Path.of("/tmp", name));
        assertThat(RunDirectory.defaults(Map.of("XDG_RUNTIME_DIR", parent.toString())))
                .isEqualTo(List.of(parent.resolve(name), Path.of("/tmp", name)));
        assertThat(RunDirectory.defaults(Map.of("XDG_RUNTIME_DIR", "/does/not/exist")))
                .containsExactly(Path.of("/tmp", name));
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
