// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

/** Sums up how the shop is doing. */
public final class Summary {

    private final OrderBook book;
    private final Lateness lateness;
    private final PendingClosings pending;
    private final Replay replay;
    private String last = "";

    Summary(OrderBook book, Lateness lateness, PendingClosings pending, Replay replay) {
        this.book = book;
        this.lateness = lateness;
        this.pending = pending;
        this.replay = replay;
    }

    /** A line for the log, or null if there is nothing new since the last one. */
    public synchronized String news() {
        String line = line();
        if (line.equals(last)) {
            return null;
        }
        last = line;
        return line;
    }

    private String line() {
        OrderBook.Counts counts = book.counts();
        long waiting = pending.count();
        String line = counts.all() + " orders scheduled: " + counts.paid() + " paid, " + counts.closed() + " closed, "
                + waiting + " pending in Redis; lateness " + lateness;
        boolean quiet = waiting == 0 && replay.remaining() == 0;
        return quiet ? line + ". All is done, open for more; stop with Ctrl-C" : line;
    }
}
