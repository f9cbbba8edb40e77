// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Processor;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The options of rates: how fast routes begin over several contexts, what is shown, and what is refused. */
class RateRouteIT extends CamelRedisIT {

    private final Queue<Long> begun = new ConcurrentLinkedQueue<>();
    private final Processor work = exchange -> begun.add(System.nanoTime());

    @BeforeEach
    void startContext() {
        context.start();
    }

    private void schedule(int count, Map<String, Object> headers) {
        for (int i = 0; i < count; i++) {
            send(uri, "message " + i, headers);
        }
    }

    /** From the start of the consumers, before any claim, to the last begin, behind its claim. */
    private long millis(long start) {
        return (begun.stream().mapToLong(Long::longValue).max().orElseThrow() - start) / 1_000_000;
    }

    @Test
    void should_begin_at_the_rate_over_two_contexts() throws Exception {
        schedule(31, Map.of());
        long start = System.nanoTime();
        try (DefaultCamelContext other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(consume("?concurrentConsumers=5&rate=20/1s", work));
            other.start();
            start(consume("?concurrentConsumers=5&rate=20/1s", work));
            await().until(() -> begun.size() == 31);
        }
        // 1.5 s by the claims, but for a difference of the two clocks.
        assertThat(millis(start)).isBetween(1_490L, 8_000L);
    }

    @Test
    void should_begin_a_fast_rate_and_one_for_each_group() throws Exception {
        schedule(6, Map.of(RedisDelayConstants.GROUP, "a"));
        schedule(6, Map.of(RedisDelayConstants.GROUP, "b"));
        schedule(60, Map.of());
        assertThat(send(uri + "?operation=stats", null, Map.of()).getMessage().getBody(Map.class))
                .containsEntry("parked", 10L);
        long start = System.nanoTime();
        start(consume("?concurrentConsumers=20&groupRate=5/1s&rate=500/1s:20", work));
        await().until(() -> begun.size() == 60 + 12);
        assertThat(millis(start)).isGreaterThan(990);
    }

    @Test
    void should_work_on_no_more_than_the_queue_has_places_over_two_contexts() throws Exception {
        AtomicInteger working = new AtomicInteger();
        Queue<Integer> seen = new ConcurrentLinkedQueue<>();
        Processor counted = exchange -> {
            seen.add(working.incrementAndGet());
            Thread.yield();
            working.decrementAndGet();
        };
        try (DefaultCamelContext other = newContext()) {
            other.getRegistry().bind("redisson", redis.client());
            other.addRoutes(consume("?concurrentConsumers=5&queueConcurrency=2", counted));
            other.start();
            start(consume("?concurrentConsumers=5&queueConcurrency=2", counted));
            schedule(60, Map.of());
            await().until(() -> seen.size() == 60);
        }
        assertThat(seen).allMatch(count -> count <= 2);
    }

    @Test
    void should_say_that_the_rate_has_changed_and_not_that_there_was_none() throws Exception {
        String groups = "groupConcurrency=1 and groupRetry=strict and ";
        schedule(1, Map.of());
        try (LogLines log = new LogLines("io.github.redisdelay.camel")) {
            start(consume("?rate=1/1h", work));
            await().until(() -> begun.size() == 1);
            start(consume("?rate=2/1h", work));
            await().until(() -> !changed(log).isEmpty());
            assertThat(changed(log))
                    .singleElement()
                    .asString()
                    .contains("its limits were " + groups + "rate=1/1h, and are " + groups + "rate=2/1h, as ");
        }
    }

    private static List<String> changed(LogLines log) {
        return log.of(Level.WARN).stream()
                .filter(line -> line.contains("its limits were"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate=10             | option 'rate' is '10': write so many deliveries in a time",
                "rate=0/1s           | option 'rate' is '0/1s': write so many deliveries in a time",
                "rate=20000/1s       | from 1/1d to 10000/1s",
                "rate=1/2d           | option 'rate' is '1/2d'",
                "rate=1/x            | option 'rate' is '1/x'",
                "groupRate=5/1s:0    | option 'groupRate' is '5/1s:0'",
                "groupRate=5/1s:1001 | 100/1s:5 if up to 5 may begin at once (1 to 1000)",
                "rate=5/1s&partitions=2 | option 'rate' is '5/1s', and option 'partitions' is 2: partitions do not"
                        + " know",
                "rate=5/1s&batching=true | this limit counts messages, and would tear batches. Remove one of them",
                "queueConcurrency=-1 | option 'queueConcurrency' is -1: it must be 1 or more, or 0 for any number",
                "queueConcurrency=5&partitions=2 | option 'queueConcurrency' is 5, and option 'partitions' is 2",
                "queueConcurrency=5&batching=true | option 'queueConcurrency' is 5, and option 'batching' is true",
                "state=dead&queueConcurrency=5 | option 'queueConcurrency' is set on a consumer of dead letters",
                "state=dead&rate=5/1s | option 'rate' is set on a consumer of dead letters"
            })
    void should_refuse_what_is_no_rate(String options, String error) {
        assertThatThrownBy(() -> start(consume("?" + options, work))).hasStackTraceContaining(error);
    }

    @Test
    void should_refuse_a_rate_where_messages_are_polled() {
        assertThatThrownBy(() -> context.createConsumerTemplate().receive(uri + "?rate=5/1s", 1))
                .hasStackTraceContaining("option 'rate' is set on an endpoint that is polled");
    }
}
