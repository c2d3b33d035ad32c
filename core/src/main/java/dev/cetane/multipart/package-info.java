/**
 * multipart/form-data as PHP reads it: the bytes of a body become the variables of {@code $_POST} and {@code $_FILES}, equal to those
 * that php-fpm makes of them, byte for byte and quirk for quirk.
 *
 * <p>In the order of the bytes: {@code Delimiter} is the boundary of the {@code Content-Type}; {@code MultipartParser} cuts the body
 * into parts, {@code PartHeaders} are the header lines of one; {@code FormReader} applies PHP's rules and {@link FormLimits} and writes
 * what PHP is to register into a {@link FormStorage}, which whoever serves the request supplies. Nothing is kept that grows with the
 * body; only the JDK is used.
 *
 * <p>Threads: everything belongs to the thread that feeds the reader. {@link FormLimits} is immutable.
 */
@NullMarked
package dev.cetane.multipart;

import org.jspecify.annotations.NullMarked;
