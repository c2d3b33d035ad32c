/** The program: command line, configuration and life cycle. */
@NullMarked
package dev.cetane;

import org.jspecify.annotations.NullMarked;
