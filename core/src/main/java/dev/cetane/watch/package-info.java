/**
 * Watches the application's files and says when they have changed, for development: {@code SourceWatcher} looks, {@code WatchRules} say at what.
 *
 * <p>Threads: one, {@code cetane-watch}, beside that of the JDK's watch service. Nothing of this exists unless watching is switched on.
 */
@NullMarked
package dev.cetane.watch;

import org.jspecify.annotations.NullMarked;
