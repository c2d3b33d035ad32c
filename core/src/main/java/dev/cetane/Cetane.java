package dev.cetane;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The entry point of the {@code cetane} command. */
public final class Cetane {
    private Cetane() {}

    /** Prints the version. */
    public static void main(String[] args) {
        System.out.println("cetane " + version());
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
}
