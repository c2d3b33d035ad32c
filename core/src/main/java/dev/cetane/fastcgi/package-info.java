/**
 * The client's side of FastCGI 1.0 as {@code php-cgi} speaks it: records, and the head of a CGI answer (RFC 3875, 6). JDK only; no input or
 * output, no threads. One request at a time on a connection that stays, so every record has the same request id.
 */
@NullMarked
package dev.cetane.fastcgi;

import org.jspecify.annotations.NullMarked;
