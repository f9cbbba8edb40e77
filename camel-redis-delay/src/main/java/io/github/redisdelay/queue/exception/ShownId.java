// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

/** Shows ids in logs and errors. Whoever writes to Redis must not write lines of the log, nor fill it. */
public final class ShownId {

    /** More than the longest id of ours has. */
    private static final int MAX_LENGTH = 300;

    private ShownId() {}

    /** An id without control characters and line ends, cut if it is too long to be one of ours. */
    public static String of(String id) {
        String shown = id.length() <= MAX_LENGTH ? id : id.substring(0, MAX_LENGTH) + "…";
        return shown.replaceAll("[\\p{Cc}\\x{2028}\\x{2029}]", "?");
    }
}
