package dev.cetane.worker;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the workers run: the {@code app} section of the configuration, found and resolved. Immutable.
 *
 * @param kind how it is run
 * @param path the application's directory, or the worker script; absolute, symbolic links <em>not</em> resolved: each generation
 *     resolves it anew
 * @param script the PHP file to run, relative to {@code path}, e.g. {@code public/index.php}; empty when {@code path} is the script
 *     itself, and for {@link ApplicationKind#LARAVEL}, whose script is the client's
 * @param documentRoot public directory relative to {@code path}, e.g. {@code public}; empty when it is {@code path}, or the directory
 *     of the script that {@code path} is
 * @param php absolute path of the php or php-cgi binary
 * @param ini PHP settings given with {@code -d}, in order
 * @param environment the complete environment of the workers but for the CETANE_ variables
 * @param debug whether error messages may go to clients
 * @param clientDirectory directory of the PHP client that the distribution ships
 * @param processPrefix command words before php, e.g. {@code setpriv --pdeathsig KILL}; empty where not available
 */
public record ApplicationConfig(
        ApplicationKind kind,
        Path path,
        String script,
        String documentRoot,
        Path php,
        Map<String, String> ini,
        Map<String, String> environment,
        boolean debug,
        Path clientDirectory,
        List<String> processPrefix) {
    /** The same with more PHP settings, after those that are there. */
    public ApplicationConfig withIni(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(ini);
        all.putAll(more);
        return new ApplicationConfig(
                kind,
                path,
                script,
                documentRoot,
                php,
                Collections.unmodifiableMap(all),
                environment,
                debug,
                clientDirectory,
                processPrefix);
    }
}
