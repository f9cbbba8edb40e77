// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.camel.Message;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BatchInsertIT extends RecipeIT {

    /** Plays the database: a batch goes in as a whole, or not at all. */
    public static class Database {
        final AtomicInteger inserts = new AtomicInteger();
        final AtomicInteger largest = new AtomicInteger();
        final Set<String> rows = ConcurrentHashMap.newKeySet();

        public void insertAll(List<Message> batch) {
            List<String> values =
                    batch.stream().map(message -> message.getBody(String.class)).toList();
            inserts.incrementAndGet();
            if (values.contains("too long")) {
                throw new IllegalArgumentException("value too long for column");
            }
            largest.accumulateAndGet(values.size(), Math::max);
            rows.addAll(values);
        }
    }

    private final Database database = new Database();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new BatchInsert();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("database", database);
    }

    @BeforeEach
    void pause() {
        template.sendBody("redis-delay:measurements?operation=pause", null);
    }

    private void measure(String... values) {
        for (String value : values) {
            template.sendBody("direct:measured", value);
        }
        makeDue("measurements");
        template.sendBody("redis-delay:measurements?operation=resume", null);
    }

    @Test
    void should_write_many_messages_at_a_time() {
        measure(IntStream.range(0, 450).mapToObj(String::valueOf).toArray(String[]::new));
        await().until(() -> database.rows.size() == 450);
        await().until(() -> isEmpty("measurements"));
        assertThat(database.inserts).hasValueLessThan(20);
        assertThat(database.largest).hasValueBetween(100, 200);
    }

    @Test
    void should_give_up_alone_what_cannot_be_written() {
        measure("1", "too long", "2");
        await().until(() -> database.inserts.get() == 1);
        await().atMost(30, TimeUnit.SECONDS).until(() -> {
            makeDue("measurements");
            return stats("measurements").dead() == 1;
        });
        await().until(this::isEmptyButForDeadLetters);
        assertThat(database.rows).containsExactlyInAnyOrder("1", "2");
    }

    private boolean isEmptyButForDeadLetters() {
        return stats("measurements").delayed() == 0 && stats("measurements").leased() == 0;
    }
}
