package dev.cetane.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A deployed application: releases side by side, and a symbolic link to the one that is current. */
final class Release implements AutoCloseable {
    private final Path directory;

    Release() {
        try {
            directory = Files.createTempDirectory("cetane-release-");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The link. */
    Path current() {
        return directory.resolve("current");
    }

    Path of(String name) {
        return directory.resolve(name);
    }

    /** A release whose worker answers with a text. */
    Release answering(String name, String text) {
        return with(name, "<?php Cetane\\Worker::run(fn () => '" + text + "');");
    }

    /** A release with that worker script. */
    Release with(String name, String php) {
        try {
            Files.createDirectories(of(name));
            Files.writeString(of(name).resolve("worker.php"), php);
            return this;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Has the link name another release from one moment to the next. */
    Release switchTo(String name) {
        try {
            Path next = directory.resolve("next");
            Files.createSymbolicLink(next, Path.of(name));
            Files.move(next, current(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return this;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        RunningCetane.delete(directory);
    }
}
