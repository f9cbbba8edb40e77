// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class OperatorsIT extends RecipeIT {

    /** Plays what wakes somebody up. */
    public static class Pager {
        final AtomicInteger calls = new AtomicInteger();

        public void call() {
            calls.incrementAndGet();
        }
    }

    private final Pager pager = new Pager();
    private final BlockingQueue<String> closed = new LinkedBlockingQueue<>();
    private volatile boolean broken; // whether closing fails, with the exception that the order names

    /** The route that the operators look after. */
    private void consume() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("redis-delay:orders?maximumRedeliveries=0").process(exchange -> {
                    String order = exchange.getMessage().getBody(String.class);
                    if (broken) {
                        throw order.startsWith("slow")
                                ? new SocketTimeoutException("read timed out")
                                : new IOException("refused");
                    }
                    closed.add(order);
                });
            }
        });
    }

    private void schedule(String... orders) {
        for (String order : orders) {
            template.sendBodyAndHeader("redis-delay:orders?delay=30m", order, "CamelRedisDelayScheduleId", order);
        }
    }

    private Exchange ask(String route, Object body) {
        return template.request(route, exchange -> exchange.getMessage().setBody(body));
    }

    private Map<?, ?> figures() {
        return ask("direct:stats", null).getMessage().getBody(Map.class);
    }

    private List<?> listed(String route) {
        return ask(route, null).getMessage().getBody(List.class);
    }

    /** Leaves two dead letters, one by a timeout. */
    private void fail() throws Exception {
        broken = true;
        consume();
        schedule("slow", "other");
        makeDue("orders");
        await().until(() -> stats("orders").dead() == 2);
        broken = false;
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new Operators();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("pager", pager);
    }

    @Test
    void should_show_figures_and_messages() {
        schedule("A-1", "A-2");
        assertThat(figures().get("delayed")).isEqualTo(2L);
        Exchange found = ask("direct:find", "A-1");
        assertThat(found.getMessage().getBody()).isEqualTo("A-1");
        assertThat(found.getMessage().getHeader("CamelRedisDelayState")).isEqualTo("delayed");
        assertThat(listed("direct:inWork")).isEmpty();
        await().untilAsserted(() -> assertThat(listed("direct:queues"))
                .singleElement()
                .satisfies(queue -> assertThat(((Map<?, ?>) queue).get("queue")).isEqualTo("orders")));
    }

    @Test
    void should_say_that_a_message_is_not_there() {
        Exchange found = ask("direct:find", "A-9");
        assertThat(found.getMessage().getHeader("CamelRedisDelayState")).isEqualTo("none");
        assertThat(found.getMessage().getBody()).isNull();
    }

    @Test
    void should_pause_and_resume() throws Exception {
        consume();
        ask("direct:pause", null);
        schedule("A-1");
        makeDue("orders");
        assertThat(figures().get("paused")).isEqualTo(true);
        assertThat(figures().get("overdue")).isEqualTo(1L);
        await().during(Duration.ofMillis(200)).until(closed::isEmpty);
        ask("direct:resume", null);
        await().untilAsserted(() -> assertThat(closed).containsExactly("A-1"));
    }

    @Test
    void should_deliver_again_what_failed_by_a_timeout() throws Exception {
        fail();
        assertThat(listed("direct:deadLetters")).hasSize(2);
        Exchange redriven = ask("direct:redriveTimeouts", null);
        assertThat(redriven.getMessage().getHeader("CamelRedisDelayCount", Long.class))
                .isOne();
        await().untilAsserted(() -> assertThat(closed).containsExactly("slow"));
        assertThat(stats("orders").dead()).isOne();
    }

    @Test
    void should_drop_dead_letters() throws Exception {
        fail();
        schedule("A-1");
        ask("direct:purgeDeadLetters", null);
        assertThat(stats("orders").dead()).isZero();
        assertThat(stats("orders").delayed()).as("what waits is left alone").isOne();
    }

    @Test
    void should_call_somebody_when_messages_are_overdue_and_nobody_listens() throws Exception {
        ask("direct:watch", null);
        assertThat(pager.calls).hasValue(0);
        schedule("A-1");
        makeDue("orders");
        await().untilAsserted(() -> assertThat(figures().get("overdue")).isEqualTo(1L));
        ask("direct:watch", null);
        assertThat(pager.calls).hasPositiveValue();
        consume();
        await().until(() -> isEmpty("orders"));
        await().until(() -> context.getInflightRepository().size() == 0);
        int calls = pager.calls.get(); // the timer may have called once more until now
        ask("direct:watch", null);
        assertThat(pager.calls).hasValue(calls);
    }
}
