/**
 * Tables in the supervisor's memory that all workers share, PROTOCOL.md §9.2. They outlive the workers and a reload, and end with the
 * supervisor.
 *
 * <p>{@link dev.cetane.shared.TableCalls} takes a worker's call apart and answers it, {@link dev.cetane.shared.SharedTables} holds the
 * tables, {@link dev.cetane.shared.SharedTable} is one of them, {@link dev.cetane.shared.TableDefinition} its columns and limits. Threads:
 * each worker's calls come on its own {@code cetane-reader-N}, which does all the work and writes the reply; each table has a lock of its own.
 */
@NullMarked
package dev.cetane.shared;

import org.jspecify.annotations.NullMarked;
