// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.util.ArrayList;
import java.util.List;

/** Sums up how the shop is doing: a line for each story. */
public final class Summary {

    private final OrderBook book;
    private final Lateness lateness;
    private final WaitingMessages waiting;
    private final StoryCounts counts;
    private final Replay replay;

    /** The lines of last time. Guarded by this. */
    private List<String> last = List.of();

    Summary(OrderBook book, Lateness lateness, WaitingMessages waiting, StoryCounts counts, Replay replay) {
        this.book = book;
        this.lateness = lateness;
        this.waiting = waiting;
        this.counts = counts;
        this.replay = replay;
    }

    /** The lines for the log that are new since the last time. */
    public synchronized List<String> news() {
        List<String> lines = lines();
        List<String> news = new ArrayList<>(lines);
        news.removeAll(last);
        last = lines;
        return news;
    }

    private List<String> lines() {
        // In this order: a message leaves its queue after the database has what became of it.
        long notifications = waiting.in("notifications");
        long looks = waiting.in("refunds");
        long reminders = waiting.in("reminders");
        List<String> lines = new ArrayList<>();
        if (notifications + counts.delivered() + counts.givenUp() > 0) {
            lines.add("notifications: " + counts.delivered() + " delivered, " + counts.givenUp()
                    + " given up and in the database, " + notifications + " to be tried");
        }
        if (looks + counts.refundsBegun() + counts.refundsDone("look") + counts.refundsDone("bank") > 0) {
            lines.add("refunds: " + counts.refundsDone("look") + " done as a look found, " + counts.refundsDone("bank")
                    + " as the bank said, " + counts.refundsBegun() + " under way");
        }
        if (reminders + counts.remindersSent() + counts.eventsCancelled() > 0) {
            lines.add("reminders: " + counts.remindersSent() + " sent, " + reminders + " to come; "
                    + counts.eventsCancelled() + " events cancelled");
        }
        lines.add(orders(notifications + looks + reminders));
        return lines;
    }

    private String orders(long others) {
        OrderBook.Counts orders = book.counts();
        long closings = waiting.closings();
        String line = orders.all() + " orders scheduled: " + orders.paid() + " paid, " + orders.closed() + " closed, "
                + closings + " pending in Redis; lateness " + lateness;
        boolean quiet = closings + others == 0
                && replay.remaining() == 0
                && waiting.in("customers", "bank", "organisers") == 0
                && counts.refundsBegun() == 0;
        return quiet ? line + ". All is done, open for more; stop with Ctrl-C" : line;
    }
}
