// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The states of all orders, kept in memory and in a file of lines {@code time state id}. An order's first line ends with the URL
 * where a partner wants to hear the end of the order, if there is one.
 *
 * <p>It says what became of an order; what is still to be closed, and when, only Redis knows. A line is written after Redis
 * has confirmed the step that it tells of. So after a crash the book may be one step behind for an order, never ahead, and
 * each route is written so that taking its step again puts that right.
 *
 * <p>Written lines survive the end of this process, not that of the machine (no fsync): a real shop has a database here.
 * The file grows with each order. Thread-safe.
 */
public final class OrderBook implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(OrderBook.class);

    private final Map<String, OrderState> orders = new LinkedHashMap<>();
    private final Map<String, String> notifyUrls = new HashMap<>();
    private final OutputStream file;
    private final Clock clock;

    /** The numbers of orders in each state; {@code waiting} includes those whose payment is being looked at. */
    record Counts(int waiting, int paid, int closed) {
        int all() {
            return waiting + paid + closed;
        }
    }

    private OrderBook(OutputStream file, Clock clock) {
        this.file = file;
        this.clock = clock;
    }

    /** Reads the book of last time, or begins a new one. */
    static OrderBook open(Path path, Clock clock) {
        try {
            String text = Files.exists(path) ? Files.readString(path) : "";
            String whole = text.substring(0, text.lastIndexOf('\n') + 1);
            if (whole.length() < text.length()) {
                LOG.warn(
                        "The order book's last line was not written completely and is dropped: {}",
                        text.substring(whole.length()));
                Files.writeString(path, whole);
            }
            // Not a channel: that would be closed when Camel interrupts a thread at a forced stop.
            OrderBook book = new OrderBook(new FileOutputStream(path.toFile(), true), clock);
            whole.lines().forEach(book::read);
            return book;
        } catch (IOException e) {
            throw new UncheckedIOException("The order book " + path + " cannot be opened", e);
        }
    }

    private void read(String line) {
        String[] words = line.split(" ");
        orders.put(words[2], OrderState.valueOf(words[1]));
        if (words.length > 3) {
            notifyUrls.put(words[2], words[3]);
        }
    }

    public synchronized Optional<OrderState> state(String id) {
        return Optional.ofNullable(orders.get(id));
    }

    public synchronized boolean knows(String id) {
        return orders.containsKey(id);
    }

    /** A new order, whose closing is scheduled. Changes nothing if the order is known: it may be paid already. */
    public synchronized void place(Order order) {
        if (!orders.containsKey(order.id())) {
            if (order.notifyUrl() != null) {
                notifyUrls.put(order.id(), order.notifyUrl());
            }
            write(order.id(), OrderState.WAITING);
        }
    }

    /** The URL where a partner wants to hear the end of the order. */
    synchronized Optional<String> notifyUrl(String id) {
        return Optional.ofNullable(notifyUrls.get(id));
    }

    /** A payment has arrived for an order that waits. Changes nothing in any other state. */
    public synchronized void beginPayment(String id) {
        if (orders.get(id) == OrderState.WAITING) {
            write(id, OrderState.PAYING);
        }
    }

    /** Paid in time. */
    public synchronized void pay(String id) {
        if (orders.get(id) != OrderState.PAID) {
            write(id, OrderState.PAID);
        }
    }

    /**
     * Not paid in time.
     *
     * @return false if the order was closed before, which happens when a closing is delivered again, or when a payment
     *     arrived while it was under way
     */
    public synchronized boolean close(String id) {
        if (orders.get(id) == OrderState.CLOSED) {
            return false;
        }
        write(id, OrderState.CLOSED);
        return true;
    }

    /** The orders whose payment was interrupted between its arrival and its result. */
    synchronized List<String> unfinishedPayments() {
        return orders.entrySet().stream()
                .filter(order -> order.getValue() == OrderState.PAYING)
                .map(Map.Entry::getKey)
                .toList();
    }

    synchronized Counts counts() {
        int paid = 0;
        int closed = 0;
        for (OrderState state : orders.values()) {
            switch (state) {
                case PAID -> paid++;
                case CLOSED -> closed++;
                default -> {}
            }
        }
        return new Counts(orders.size() - paid - closed, paid, closed);
    }

    private void write(String id, OrderState state) {
        String url = state == OrderState.WAITING && notifyUrls.containsKey(id) ? " " + notifyUrls.get(id) : "";
        String line = clock.instant().truncatedTo(ChronoUnit.MILLIS) + " " + state + " " + id + url + "\n";
        try {
            file.write(line.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException("The order book cannot be written", e);
        }
        orders.put(id, state);
    }

    @Override
    public synchronized void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
