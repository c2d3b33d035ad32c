package dev.cetane.log;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Why a file cannot be used, in words: the messages of the JDK are the path alone for the commonest causes. Stateless. */
public final class FileReason {
    private FileReason() {}

    /** A clause without the path, as in {@code permission denied}. */
    public static String of(IOException e) {
        if (e instanceof FileSystemException failed && failed.getReason() != null) {
            String reason = failed.getReason();
            return reason.equals("Too many open files") ? reason + ", raise their limit (ulimit -n)" : reason;
        }
        if (e instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof FileAlreadyExistsException) {
            return "something of that name is there";
        }
        if (e instanceof NotDirectoryException) {
            return "it is no directory";
        }
        if (e instanceof DirectoryNotEmptyException) {
            return "it is not empty";
        }
        if (e instanceof FileSystemLoopException) {
            return "its symbolic links lead in a circle";
        }
        String message = e.getMessage();
        return message == null ? e.toString() : message;
    }
}
