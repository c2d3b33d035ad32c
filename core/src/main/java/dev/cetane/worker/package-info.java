/** The pool of PHP workers: processes, pipes, states. */
@NullMarked
package dev.cetane.worker;

import org.jspecify.annotations.NullMarked;
