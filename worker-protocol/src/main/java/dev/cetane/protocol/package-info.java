/** The worker protocol: frames, codec and turn-taking. Uses the JDK only. */
@NullMarked
package dev.cetane.protocol;

import org.jspecify.annotations.NullMarked;
