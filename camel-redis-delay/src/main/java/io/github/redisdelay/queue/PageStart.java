// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The place in the order of a queue's messages where a page begins, and the direction in which it goes on from there, for {@link
 * QueueAdmin#list}.
 *
 * @param cursor the cursor of the page before; null if the page begins elsewhere
 * @param micros the time at which the page begins, in microseconds since the epoch; -1 if it begins at either end or at a cursor
 * @param backwards true if the page goes back in time from the last message. A cursor has a direction of its own
 * @see MessagePage
 */
public record PageStart(String cursor, long micros, boolean backwards) {

    /** Begins with the message that is due first; of leased ones, with the one whose lease ends first. */
    public static PageStart first() {
        return new PageStart(null, -1, false);
    }

    /**
     * Begins with the first message that is due at a time or later; of leased ones, with the first one whose lease ends then or
     * later.
     *
     * @param dueMicros the time in microseconds since the epoch, from 0 to {@link DueTime#MAX_MICROS}
     * @throws IllegalArgumentException if it is out of its range
     */
    public static PageStart at(long dueMicros) {
        return new PageStart(null, new DueTime(false, dueMicros).micros(), false);
    }

    /**
     * Begins with the message that is due last and goes back in time, page by page: of dead letters the one given up last comes
     * first, of leased messages the one whose lease ends last.
     */
    public static PageStart newest() {
        return new PageStart(null, -1, true);
    }

    /**
     * Goes on behind another page, in the direction of that page.
     *
     * @param cursor {@link MessagePage#next()} of the page before; null for {@link #first()}
     */
    public static PageStart next(String cursor) {
        return new PageStart(cursor, -1, false);
    }
}
