// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class OutboxIT extends RecipeIT {

    /** A row of the outbox table. */
    public record Row(long id, Instant due, String payload) {}

    /** Plays the outbox table. */
    public static class Table {
        final ConcurrentSkipListMap<Long, Row> rows = new ConcurrentSkipListMap<>();
        final AtomicInteger crashes = new AtomicInteger(); // how many deletes are not reached any more

        void insert(long id, String payload) {
            rows.put(id, new Row(id, Instant.now().plus(Duration.ofHours(1)), payload));
        }

        public List<Row> unsent() {
            return List.copyOf(rows.values());
        }

        public void delete(long id) {
            if (crashes.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("killed between the queue and the table");
            }
            rows.remove(id);
        }
    }

    /** The handler of the messages. */
    public static class Events {
        final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

        public void handle(String payload) {
            handled.add(payload);
        }
    }

    private final Table table = new Table();
    private final Events events = new Events();

    private void handleAll() {
        await().until(table.rows::isEmpty);
        makeDue("events");
        await().until(() -> isEmpty("events"));
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new Outbox();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("outbox", table);
        registry.bind("events", events);
    }

    @Test
    void should_schedule_each_row_once_although_the_relay_dies_before_the_delete() throws Exception {
        table.crashes.set(2);
        table.insert(1, "one");
        table.insert(2, "two");
        handleAll();
        assertThat(table.crashes).hasValue(0);
        assertThat(events.handled).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void should_not_schedule_a_row_again_whose_message_is_finished() throws Exception {
        table.insert(1, "one");
        handleAll();
        table.insert(1, "one"); // the delete was rolled back
        table.insert(2, "two");
        handleAll();
        assertThat(events.handled).containsExactly("one", "two");
    }
}
