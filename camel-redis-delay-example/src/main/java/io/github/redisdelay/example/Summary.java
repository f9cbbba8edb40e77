// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/**
 * Sums up how the shop is doing: the orders each second, the other stories every five seconds, and only what is new.
 */
public final class Summary extends RouteBuilder {

    private final OrderBook book;
    private final Lateness lateness;
    private final WaitingMessages waiting;
    private final ShopDatabase database;
    private final Replay replay;

    /** The last line of each story, by its first word. Guarded by this, as is the next. */
    private final Map<String, String> said = new HashMap<>();

    private int seconds;

    Summary(OrderBook book, Lateness lateness, WaitingMessages waiting, ShopDatabase database, Replay replay) {
        this.book = book;
        this.lateness = lateness;
        this.waiting = waiting;
        this.database = database;
        this.replay = replay;
    }

    @Override
    public void configure() {
        from("timer:summary?delay=1s&period=1s")
                .routeId("sum-up")
                .bean(this, "news")
                .split(body())
                .log(LoggingLevel.INFO, Story.SHOP, "-------- ${body}");
    }

    /** The lines for the log that are new since the last time. To be called once a second. */
    public synchronized List<String> news() {
        boolean done = waiting.in("orders", "notifications", "refunds", "reminders", "customers", "bank", "organisers")
                                + replay.remaining()
                                + database.count("refund WHERE state = 'PENDING'")
                        == 0
                && book.counts().all() > 0;
        List<String> lines = new ArrayList<>();
        if (++seconds % 5 == 0 || done) {
            lines.add(notifications());
            lines.add(refunds());
            lines.add(reminders());
        }
        lines.add(orders(done));
        lines.removeIf(line -> line.equals(said.put(line.substring(0, line.indexOf(':')), line))
                || line.matches("[^1-9]*")); // Nothing but zeros: the story has not begun.
        return lines;
    }

    // A message leaves its queue after the database has what became of it, so the queues are asked first.

    private String notifications() {
        long waits = waiting.in("notifications");
        return "notifications: " + database.count("received_notification") + " delivered, " + waits + " to be tried, "
                + database.count("failed_notification") + " failed for good";
    }

    private String refunds() {
        return "refunds: " + database.count("refund WHERE found_by = 'look'") + " done as a look found, "
                + database.count("refund WHERE found_by = 'bank'") + " as the bank said, "
                + database.count("refund WHERE state = 'PENDING'") + " under way";
    }

    private String reminders() {
        long waits = waiting.in("reminders");
        return "reminders: " + database.count("reminder") + " sent, " + waits + " to come; "
                + database.count("event WHERE cancelled") + " events cancelled";
    }

    private String orders(boolean done) {
        OrderBook.Counts orders = book.counts();
        return "orders: " + orders.all() + " placed, " + orders.paid() + " paid, " + orders.closed() + " closed, "
                + waiting.in("orders") + " wait in Redis" + lateness
                + (done ? ". All is done, open for more; stop with Ctrl-C" : "");
    }
}
