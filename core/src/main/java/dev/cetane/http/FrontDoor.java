package dev.cetane.http;

import dev.cetane.log.EventLog;
import dev.cetane.trace.Tracer;
import dev.cetane.worker.Dispatcher;
import dev.cetane.worker.Ticker;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of one server share. Immutable; each part is thread-safe.
 *
 * @param files null when no files are served
 * @param scripts finds the script for each path; null where one front controller, or a worker script, takes all requests
 * @param closed paths that are answered 404
 * @param tracer null where requests have no traces of Cetane's
 * @param debug whether the application's error messages may go to clients
 */
record FrontDoor(
        HttpConfig config,
        Dispatcher dispatcher,
        EventLog log,
        Ticker ticker,
        HttpListener listener,
        SpoolDirectory spool,
        FormRules forms,
        TrustedProxies proxies,
        ServerVariables variables,
        HttpDate date,
        Connections connections,
        @Nullable StaticFiles files,
        @Nullable ScriptFinder scripts,
        ClosedPaths closed,
        @Nullable Tracer tracer,
        boolean debug) {}
