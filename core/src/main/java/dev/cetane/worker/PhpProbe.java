package dev.cetane.worker;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Asks the PHP of an application what it is: one short process, on the calling thread. */
public final class PhpProbe {

    private static final int MAX_OUTPUT_BYTES = 65_536;

    private static final String SCRIPT = """
            <?php
            echo "\\ncetane-version=", PHP_VERSION, "\\ncetane-sapi=", PHP_SAPI, "\\ncetane-ini=", php_ini_loaded_file(),
                "\\ncetane-opcache-cli=", ini_get('opcache.enable_cli'), "\\ncetane-opcache=", ini_get('opcache.enable'),
                "\\ncetane-memory-limit=", ini_get('memory_limit'),
                "\\ncetane-extensions=", implode(',', get_loaded_extensions()), "\\n";
            """;

    private PhpProbe() {}

    /**
     * What PHP said.
     *
     * @param version as in {@code 8.2.36}
     * @param sapi {@code cli} or {@code cgi-fcgi}
     * @param iniFile loaded php.ini, empty when there is none
     * @param opcache whether the opcode cache works under this SAPI
     * @param extensions names in lower case
     */
    public record Facts(
            String version, String sapi, String iniFile, boolean opcache, String memoryLimit, Set<String> extensions) {}

    /**
     * Runs PHP once and waits.
     *
     * @throws IOException with PHP's own words when it cannot be run, fails, or takes longer than {@code timeout}
     */
    public static Facts ask(ApplicationConfig application, Duration timeout) throws IOException {
        List<String> command = new ArrayList<>(List.of(application.php().toString(), "-q"));
        application.ini().forEach((name, value) -> command.addAll(List.of("-d", name + "=" + value)));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(application.environment());
        Process php = builder.start();
        try {
            CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> read(php.getInputStream()));
            write(php.getOutputStream());
            String output = said.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (!php.waitFor(1, TimeUnit.SECONDS) || php.exitValue() != 0) {
                throw new IOException(application.php() + " fails: " + output.strip());
            }
            return facts(application, output);
        } catch (TimeoutException e) {
            throw new IOException(application.php() + " has not answered within " + timeout.toSeconds() + "s", e);
        } catch (ExecutionException e) {
            throw new IOException(application.php() + " fails: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + application.php() + " was asked", e);
        } finally {
            php.destroyForcibly();
        }
    }

    private static void write(OutputStream in) {
        try (in) {
            in.write(SCRIPT.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // It has ended without reading: what it printed says why.
            return;
        }
    }

    private static String read(InputStream in) {
        try {
            return new String(in.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static Facts facts(ApplicationConfig application, String output) throws IOException {
        Map<String, String> lines = new HashMap<>();
        output.lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (line.startsWith("cetane-") && equals > 0) {
                lines.put(line.substring("cetane-".length(), equals), line.substring(equals + 1));
            }
        });
        String version = lines.getOrDefault("version", "");
        if (version.isEmpty()) {
            throw new IOException(application.php() + " is no PHP, it says: \"" + output.strip() + "\"");
        }
        Set<String> extensions = new HashSet<>(List.of(
                lines.getOrDefault("extensions", "").toLowerCase(Locale.ROOT).split(",")));
        String sapi = lines.getOrDefault("sapi", "");
        boolean enabled = isOn(lines.getOrDefault("opcache", ""))
                && (!sapi.equals("cli") || isOn(lines.getOrDefault("opcache-cli", "")));
        return new Facts(
                version,
                sapi,
                lines.getOrDefault("ini", ""),
                extensions.contains("zend opcache") && enabled,
                lines.getOrDefault("memory-limit", ""),
                Set.copyOf(extensions));
    }

    private static boolean isOn(String setting) {
        return setting.equals("1") || setting.equalsIgnoreCase("on");
    }
}
