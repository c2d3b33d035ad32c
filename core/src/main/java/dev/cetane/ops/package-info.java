/** Health and metrics on a port of their own. */
@NullMarked
package dev.cetane.ops;

import org.jspecify.annotations.NullMarked;
