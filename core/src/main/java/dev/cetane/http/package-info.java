/** The HTTP front door. */
@NullMarked
package dev.cetane.http;

import org.jspecify.annotations.NullMarked;
