// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.Objects;

/**
 * The place in the order of a queue's messages where a page begins, and the direction in which it goes on from there, for {@link
 * QueueAdmin#list}.
 *
 * @see MessagePage
 */
public final class PageStart {

    private static final PageStart FIRST = new PageStart(null, -1, false);
    private static final PageStart NEWEST = new PageStart(null, -1, true);

    private final String cursor;
    private final long micros;
    private final boolean newest;

    private PageStart(String cursor, long micros, boolean newest) {
        this.cursor = cursor;
        this.micros = micros;
        this.newest = newest;
    }

    /** Begins with the message that is due first; of leased ones, with the one whose lease ends first. */
    public static PageStart first() {
        return FIRST;
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
        return NEWEST;
    }

    /**
     * Goes on behind another page, in the direction of that page.
     *
     * @param cursor {@link MessagePage#next()} of the page before; null for {@link #first()}
     */
    public static PageStart next(String cursor) {
        return cursor == null ? FIRST : new PageStart(cursor, -1, false);
    }

    /** The cursor of the page before; null if the page begins elsewhere. */
    public String cursor() {
        return cursor;
    }

    /** The time at which the page begins, in microseconds since the epoch; -1 if it begins at either end or at a cursor. */
    public long micros() {
        return micros;
    }

    /** True if the page goes back in time from the last message. A cursor has a direction of its own. */
    public boolean isNewest() {
        return newest;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PageStart that
                && Objects.equals(cursor, that.cursor)
                && micros == that.micros
                && newest == that.newest;
    }

    @Override
    public int hashCode() {
        return Objects.hash(cursor, micros, newest);
    }

    @Override
    public String toString() {
        return cursor != null
                ? "next(" + cursor + ")"
                : newest ? "newest()" : micros < 0 ? "first()" : "at(" + micros + ")";
    }
}
