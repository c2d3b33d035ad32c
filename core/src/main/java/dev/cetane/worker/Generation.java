package dev.cetane.worker;

import dev.cetane.protocol.BytePath;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Hello;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One version of the application as it was found on disk, symbolic links resolved: what the workers of one reload run. Immutable.
 *
 * @param number 1 at start, one more with each reload
 * @param directory the application's directory
 * @param script what HELLO names as the script
 * @param documentRoot the public directory
 */
public record Generation(int number, ApplicationConfig application, Path directory, Path script, Path documentRoot) {

    /**
     * Resolves the application's path anew.
     *
     * @throws IOException with a message for people, when there is no application at that path
     */
    static Generation resolve(int number, ApplicationConfig application) throws IOException {
        Path real;
        try {
            real = application.path().toRealPath();
        } catch (NoSuchFileException e) {
            throw new IOException("there is no application at " + application.path() + ": the path does not exist", e);
        }
        boolean isFile = Files.isRegularFile(real);
        if (isFile && application.kind() == ApplicationKind.CLASSIC) {
            throw new IOException(real + " is a file; a classic application is given as its directory");
        }
        if (isFile && application.kind() == ApplicationKind.LARAVEL) {
            throw new IOException(real + " is a file; a Laravel application is given as its directory");
        }
        Path parent = real.getParent();
        Path directory = isFile && parent != null ? parent : real;
        Path script = isFile ? real : directory.resolve(application.script()).normalize();
        Path documentRoot = directory.resolve(application.documentRoot()).normalize();
        if (!Files.exists(script)) {
            throw new IOException("there is no " + application.kind().key() + " application at " + application.path()
                    + ": " + script + " does not exist");
        }
        return new Generation(number, application, directory, script, documentRoot);
    }

    /** Whether what was resolved is still there. */
    boolean exists() {
        return Files.exists(script);
    }

    /** The command of a worker's process. */
    List<String> command() {
        List<String> command = new ArrayList<>(application.processPrefix());
        Path client = application.clientDirectory();
        command.add(application.php().toString());
        if (application.kind().isWorkerScript()) {
            command.add("-d");
            command.add("auto_prepend_file=" + client.resolve("autoload.php"));
        }
        application.ini().forEach((name, value) -> {
            command.add("-d");
            command.add(name + "=" + value);
        });
        command.add(
                application.kind().isWorkerScript()
                        ? script.toString()
                        : client.resolve("bin/cetane-worker.php").toString());
        return command;
    }

    /** The document root as FastCGI carries it, one char a byte. */
    String documentRootText() {
        return BytePath.toText(documentRoot);
    }

    /** The parameters that every FastCGI request has. */
    Map<String, String> fastCgiParameters() {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("GATEWAY_INTERFACE", "CGI/1.1");
        parameters.put("SERVER_SOFTWARE", "Cetane");
        parameters.put("DOCUMENT_ROOT", documentRootText());
        // php-cgi may refuse to run what no web server has sent it to.
        parameters.put("REDIRECT_STATUS", "200");
        return parameters;
    }

    Hello hello(WorkerServices services, Duration requestTimeout) {
        Map<String, String> settings = new HashMap<>();
        settings.put(Hello.CAPABILITIES, Capability.format(services.capabilities()));
        settings.put("role", services.role().key());
        settings.put("task-workers", Integer.toString(services.taskWorkers()));
        settings.put("kind", application.kind().key());
        settings.put("script", BytePath.toText(script));
        settings.put("document-root", BytePath.toText(documentRoot));
        settings.put("request-timeout-millis", Long.toString(requestTimeout.toMillis()));
        settings.put("debug", application.debug() ? "1" : "0");
        Map<String, String> server = new HashMap<>();
        server.put("SERVER_SOFTWARE", "Cetane");
        server.put("GATEWAY_INTERFACE", "CGI/1.1");
        server.put("DOCUMENT_ROOT", BytePath.toText(documentRoot));
        if (application.kind().isCgi()) {
            server.put("SCRIPT_FILENAME", BytePath.toText(script));
        }
        return Hello.current(settings, server);
    }
}
