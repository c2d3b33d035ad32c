/**
 * The program: command line, configuration and life cycle.
 *
 * <p>{@link dev.cetane.Cetane} is the entry; {@code CommandLineInterface} runs one of the commands of {@code Grammar}. {@code
 * ConfigLoader} makes a {@code CetaneConfig} of flags, environment and file by the table of keys in {@code Settings}; {@code
 * ApplicationFinder} and {@code PhpFinder} look what is there; {@code Supervisor} starts the pool, the HTTP server and the ops server
 * and drains them. The other commands ask a running instance through {@code ControlClient}, which finds it by its {@code
 * RunDirectory}; {@code Check} tries an application.
 *
 * <p>Threads: the main thread starts, waits and stops. {@code cetane-boot} waits for the first worker meanwhile. Signals and the
 * control socket tell the supervisor to reload or to stop on threads of their own.
 */
@NullMarked
package dev.cetane;

import org.jspecify.annotations.NullMarked;
