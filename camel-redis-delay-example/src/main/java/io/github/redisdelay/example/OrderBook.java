// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Clock;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The states of all orders, in the database.
 *
 * <p>It says what became of an order; what is still to be closed, and when, only Redis knows. A state is written after
 * Redis has confirmed the step that it tells of. So after a crash the book may be one step behind for an order, never
 * ahead, and each route is written so that taking its step again puts that right.
 *
 * <p>Thread-safe. What may insert a row is synchronized: of two MERGEs of the same one at the same time H2 lets one
 * fail.
 */
public final class OrderBook {

    /** The states of an order. */
    enum State {
        /** Its closing is scheduled. */
        WAITING,
        /** A payment has arrived, and whether it came in time is not yet written down. */
        PAYING,
        /** Paid in time. */
        PAID,
        /** Not paid in time. */
        CLOSED
    }

    /** The numbers of orders in each state; {@code waiting} includes those whose payment is being looked at. */
    record Counts(long waiting, long paid, long closed) {
        long all() {
            return waiting + paid + closed;
        }
    }

    private final JdbcTemplate sql;
    private final Clock clock;

    OrderBook(DataSource database, Clock clock) {
        this.sql = new JdbcTemplate(database);
        this.clock = clock;
    }

    public Optional<State> state(String id) {
        return sql.queryForList("SELECT state FROM shop_order WHERE id = ?", String.class, id).stream()
                .map(State::valueOf)
                .findFirst();
    }

    public boolean knows(String id) {
        return state(id).isPresent();
    }

    /** A new order, whose closing is scheduled. Changes nothing if the order is known: it may be paid already. */
    public synchronized void place(Order order) {
        sql.update("""
                MERGE INTO shop_order USING (VALUES (CAST(? AS VARCHAR))) placed (id) ON shop_order.id = placed.id
                WHEN NOT MATCHED THEN INSERT (id, state, notify_url, changed_at) VALUES (placed.id, 'WAITING', ?, ?)""", order.id(), order.notifyUrl(), now());
    }

    /** The URL where a partner wants to hear the end of the order. */
    Optional<String> notifyUrl(String id) {
        return sql
                .queryForList(
                        "SELECT notify_url FROM shop_order WHERE id = ? AND notify_url IS NOT NULL", String.class, id)
                .stream()
                .findFirst();
    }

    /** A payment has arrived for an order that waits. Changes nothing in any other state. */
    public void beginPayment(String id) {
        sql.update(
                "UPDATE shop_order SET state = 'PAYING', changed_at = ? WHERE id = ? AND state = 'WAITING'", now(), id);
    }

    /** Paid in time. */
    public void pay(String id) {
        end(id, State.PAID);
    }

    /**
     * Not paid in time.
     *
     * @return false if the order was closed before, which happens when a closing is delivered again, or when a payment
     *     arrived while it was under way
     */
    public boolean close(String id) {
        return end(id, State.CLOSED);
    }

    /** False if that was its state before. */
    private synchronized boolean end(String id, State state) {
        return sql.update("""
                        MERGE INTO shop_order USING (VALUES (CAST(? AS VARCHAR), CAST(? AS VARCHAR))) ended (id, state)
                        ON shop_order.id = ended.id
                        WHEN MATCHED AND shop_order.state <> ended.state THEN UPDATE SET state = ended.state, changed_at = ?
                        WHEN NOT MATCHED THEN INSERT (id, state, changed_at) VALUES (ended.id, ended.state, ?)""", id, state.name(), now(), now()) > 0;
    }

    /** The orders whose payment was interrupted between its arrival and its result. */
    List<String> unfinishedPayments() {
        return sql.queryForList("SELECT id FROM shop_order WHERE state = 'PAYING'", String.class);
    }

    Counts counts() {
        Map<State, Long> counts = new EnumMap<>(State.class);
        sql.query("SELECT state, COUNT(*) FROM shop_order GROUP BY state", row -> {
            counts.put(State.valueOf(row.getString(1)), row.getLong(2));
        });
        return new Counts(
                counts.getOrDefault(State.WAITING, 0L) + counts.getOrDefault(State.PAYING, 0L),
                counts.getOrDefault(State.PAID, 0L),
                counts.getOrDefault(State.CLOSED, 0L));
    }

    private OffsetDateTime now() {
        return clock.instant().atOffset(ZoneOffset.UTC);
    }
}
