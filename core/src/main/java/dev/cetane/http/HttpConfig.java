package dev.cetane.http;

import dev.cetane.files.StaticFilesConfig;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The {@code http} section of the configuration. Immutable; the loader has checked every range.
 *
 * @param listen addresses to bind: {@link java.net.InetSocketAddress} or {@link java.net.UnixDomainSocketAddress} (127.0.0.1:8080)
 * @param backlog length of the accept queue (1024)
 * @param maxConnections most open connections; more are closed at once (10 000)
 * @param maxUriBytes longest request target, above it 414 (8 KiB)
 * @param maxHeaderBytes longest sum of header fields, above it 431 (16 KiB; at most 32 KiB)
 * @param maxBodyBytes longest body, above it 413 (32 MiB; 0: no limit)
 * @param inlineBodyBytes longest body that is passed inside the frame; a longer one is spooled to a file (16 KiB; at most 24 KiB)
 * @param spoolDirectory where bodies are spooled
 * @param headerTimeout from the connection's (or the last answer's) first byte to the end of the head, above it 408 (10s)
 * @param bodyTimeout longest pause between two reads of a body, above it 408 (30s)
 * @param idleTimeout how long a connection without a request stays open (60s)
 * @param writeTimeout longest time in which a client takes no byte of an answer (30s)
 * @param responseBufferBytes bytes of one answer that are buffered for a slow client before the worker's reader waits (1 MiB)
 * @param trustedProxies networks in CIDR form whose Forwarded and X-Forwarded-* count (none)
 * @param accessLog whether each answer is logged (false)
 * @param serverTiming whom the head of an answer tells where its time went (nobody)
 * @param shutdownGrace how long a drain waits for running exchanges (10s)
 * @param routeTimeouts limits of requests by path, in place of {@code pool.request-timeout} (none)
 * @param files how files of the document root are served, where they are
 */
public record HttpConfig(
        List<SocketAddress> listen,
        int backlog,
        int maxConnections,
        int maxUriBytes,
        int maxHeaderBytes,
        long maxBodyBytes,
        int inlineBodyBytes,
        Path spoolDirectory,
        Duration headerTimeout,
        Duration bodyTimeout,
        Duration idleTimeout,
        Duration writeTimeout,
        int responseBufferBytes,
        List<String> trustedProxies,
        boolean accessLog,
        ServerTiming serverTiming,
        Duration shutdownGrace,
        RouteTimeouts routeTimeouts,
        StaticFilesConfig files) {}
