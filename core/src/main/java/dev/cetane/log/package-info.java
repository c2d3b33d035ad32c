/** One line an event. */
@NullMarked
package dev.cetane.log;

import org.jspecify.annotations.NullMarked;
