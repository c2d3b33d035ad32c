/**
 * The worker protocol, specified in PROTOCOL.md: frames, their Java codec and the turns of the conversation. Uses the JDK only and
 * does no input or output itself.
 *
 * <p>Each worker has a {@link dev.cetane.protocol.Turn}, a {@link dev.cetane.protocol.RequestEncoder} and a
 * {@link dev.cetane.protocol.FrameDecoder} of its own. Encoder and {@code Turn.begin} belong to the thread that dispatches to it,
 * one at a time while it is idle; the decoder, and the turn from a request to its DONE, belong to the thread that reads its answers.
 * Everything else is stateless or immutable.
 */
@NullMarked
package dev.cetane.protocol;

import org.jspecify.annotations.NullMarked;
