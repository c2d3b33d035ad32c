/**
 * The files of a document root, as HTTP serves them: which paths may be served, what is there, and how a request is answered (RFC 9110:
 * validators, conditions, ranges, content codings). JDK only, but for the clock.
 *
 * <p>In the order of a lookup: {@code FileRules} says which names are never served, {@code DocumentRoot} finds the file behind a path,
 * {@code Representation} is the form of it that the client takes, and {@code FileReply} what is answered: status, fields, and which bytes.
 *
 * <p>Threads: {@link dev.cetane.files.DocumentRoot#mayHold} is called on event loops and touches no disk; everything else runs on a thread that
 * may wait for the disk.
 */
@NullMarked
package dev.cetane.files;

import org.jspecify.annotations.NullMarked;
