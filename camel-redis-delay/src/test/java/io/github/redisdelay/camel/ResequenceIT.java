// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.ProcessorDefinition;
import org.junit.jupiter.api.Test;

/** A resequencer behind a queue holds messages, and so it orders as many as the consumer works on at a time. */
class ResequenceIT extends ConsumerSideIT {

    private interface Resequencer {
        ProcessorDefinition<?> add(ProcessorDefinition<?> route, RouteBuilder routes);
    }

    private static final Resequencer STREAM = (route, routes) ->
            route.resequence(routes.header("number")).stream().timeout(3000).deliveryAttemptInterval(50);

    private static final Resequencer BATCH = (route, routes) ->
            route.resequence(routes.header("number")).batch().size(4).timeout(20_000);

    private void startWith(Resequencer resequencer, int slots) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                ProcessorDefinition<?> route = from(uri + "?concurrentConsumers=" + slots)
                        .routeId("consumer")
                        .filter(header("number").isNotNull());
                resequencer.add(route, this).process(ResequenceIT.this::take);
            }
        });
    }

    private List<Object> sendAndReceive(int... numbers) throws Exception {
        for (long number : numbers) {
            send(uri, number, Map.of("number", number));
        }
        List<Object> order = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            order.add(next().getHeader("number"));
        }
        return order;
    }

    @Test
    void a_stream_is_put_in_order_with_as_many_slots_as_messages() throws Exception {
        startWith(STREAM, 4);
        assertThat(sendAndReceive(4, 3, 2, 1)).containsExactly(1L, 2L, 3L, 4L);
        assertEmpty();
    }

    @Test
    void a_batch_is_put_in_order_with_as_many_slots_as_messages() throws Exception {
        startWith(BATCH, 4);
        assertThat(sendAndReceive(4, 3, 2, 1)).containsExactly(1L, 2L, 3L, 4L);
        assertEmpty();
    }

    private List<String> warningsOfAStart(Resequencer resequencer, int slots) throws Exception {
        try (LogLines log = new LogLines(RedisDelayConsumer.class)) {
            startWith(resequencer, slots);
            return log.of(Level.WARN);
        }
    }

    @Test
    void a_stream_with_one_slot_is_warned_of() throws Exception {
        assertThat(warningsOfAStart(STREAM, 1))
                .anyMatch(line -> line.startsWith("queue '" + queue + "': route 'consumer' has a resequencer")
                        && line.contains("'concurrentConsumers' is 1"));
    }

    @Test
    void a_batch_with_one_slot_is_warned_of() throws Exception {
        assertThat(warningsOfAStart(BATCH, 1)).anyMatch(line -> line.contains("has a resequencer"));
    }

    @Test
    void several_slots_are_not_warned_of() throws Exception {
        assertThat(warningsOfAStart(STREAM, 2)).noneMatch(line -> line.contains("resequencer"));
    }

    @Test
    void other_routes_are_not_warned_of() throws Exception {
        assertThat(warningsOfAStart((route, routes) -> route.transform(routes.body()), 1))
                .noneMatch(line -> line.contains("resequencer"));
    }
}
