// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.imports.queue.ImportReport;

/** Listener of imports. Its methods are called by several threads, and must not block. */
public interface ImportListener {

    /** A listener that does nothing. */
    ImportListener NONE = new ImportListener() {};

    /**
     * A slice has ended.
     *
     * @param moved how many messages were moved
     * @param renamed how many of these got another id
     * @param gone how many were taken by somebody else in the moment between
     */
    default void slice(long moved, long renamed, long gone) {}

    /** An import has ended, or was stopped: the report says what it left. */
    default void ended(ImportReport report) {}

    /** An import has failed. What its slices had moved until then was told. */
    default void failed() {}

    /** No import follows. */
    default void closed() {}
}
