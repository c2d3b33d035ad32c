/** Micro-benchmarks, run by hand. */
@NullMarked
package dev.cetane.bench;

import org.jspecify.annotations.NullMarked;
