// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.exception.DelayQueueException;

/**
 * The outcomes of a message's import as {@code import.lua} answers them: its header has the same names, numbered from
 * 1.
 */
public enum ImportReply {
    MOVED,
    GONE,
    IN_USE,
    OUT_OF_RANGE,
    FULL;

    private static final ImportReply[] ALL = values();

    /** @throws DelayQueueException if the script has no such outcome */
    public static ImportReply of(int outcome) {
        if (outcome < 1 || outcome > ALL.length) {
            throw new DelayQueueException("script IMPORT answered " + outcome);
        }
        return ALL[outcome - 1];
    }
}
