/**
 * One line an event: {@link dev.cetane.log.TextEventLog} for a terminal, {@link dev.cetane.log.JsonEventLog} elsewhere.
 *
 * <p>Any thread may log. It formats its line itself and holds a lock for the one write only; a reader of the log that is slow makes
 * the threads wait that log, as with any pipe.
 */
@NullMarked
package dev.cetane.log;

import org.jspecify.annotations.NullMarked;
