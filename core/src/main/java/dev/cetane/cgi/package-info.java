/**
 * What a request looks like to PHP, whichever front door it comes through: {@link dev.cetane.cgi.FieldNames} names its header fields,
 * {@link dev.cetane.cgi.RequestFields} joins repeated ones, {@link dev.cetane.cgi.RequestTarget} reads its path, and
 * {@link dev.cetane.cgi.CgiVariables} writes {@code $_SERVER}. The JDK only; no threads of its own, every class says who may use it.
 */
@NullMarked
package dev.cetane.cgi;

import org.jspecify.annotations.NullMarked;
