package dev.cetane;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Properties;

/** The entry point of the {@code cetane} command. */
public final class Cetane {
    private Cetane() {}

    /** Runs the command and ends the process with its exit code. */
    public static void main(String[] args) {
        CommandLineInterface commands = new CommandLineInterface(
                System.out,
                System.err,
                ConfigLoader.environment(),
                Path.of("").toAbsolutePath(),
                home().resolve("php"));
        System.exit(commands.run(args));
    }

    /** The version this build was made from, as in {@code 0.1.0}. */
    static String version() {
        Properties properties = new Properties();
        try (InputStream in = Cetane.class.getResourceAsStream("version.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("version.properties is not readable: the build is broken", e);
        }
        return properties.getProperty("version", "unknown");
    }

    /** Where the distribution is installed; the launcher says it. */
    private static Path home() {
        return Path.of(System.getProperty("cetane.home", ".")).toAbsolutePath().normalize();
    }
}
