// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis answers too late: Camel sends the step again, and one message is stored. */
class LostAnswerRedeliveryIT {

    private final RedisServer server = RedisServer.dedicated();
    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private final AtomicInteger redeliveries = new AtomicInteger();

    @BeforeEach
    void configure() {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        component.getConfiguration().setAddress(server.address());
        component.getConfiguration().setRequestTimeout("300ms");
    }

    @AfterEach
    void close() throws Exception {
        context.close();
        server.close();
    }

    /** Redis executes nothing for this long, and then everything that it was sent. */
    private void pause(Duration time) throws IOException {
        redeliveries.set(0); // the first call, which connects, may have been slow
        call("CLIENT PAUSE " + time.toMillis() + " ALL");
    }

    private void call(String command) throws IOException {
        try (Socket socket = new Socket(server.host(), server.port())) {
            OutputStream out = socket.getOutputStream();
            out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            out.flush();
            assertThat(socket.getInputStream().read()).isEqualTo('+');
        }
    }

    private Exchange send(String uri, Object body, Map<String, Object> headers) {
        return context.createProducerTemplate().request(uri, exchange -> {
            exchange.getMessage().setBody(body);
            exchange.getMessage().setHeaders(new java.util.HashMap<>(headers));
        });
    }

    /** Stores a message before Redis pauses. The first call, which connects, may take longer than the short timeout. */
    private void store(String id) {
        await().until(() ->
                send("redis-delay:orders?delay=1h&onDuplicate=replace", id, Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                                .getException()
                        == null);
    }

    private long waiting() throws Exception {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        RedisDelayConfiguration options = component.getConfiguration();
        var client =
                component.acquireClient(new OptionReader(options).connection(), new OptionReader(options).client());
        try {
            var queue = client.get().queues().queue("orders");
            // On a busy machine an answer may take longer than the short timeout.
            return await().ignoreExceptions()
                    .until(() -> queue.admin().stats().join().delayed(), any -> true);
        } finally {
            client.release();
        }
    }

    private RouteBuilder route(int maximumRedeliveries, String... uris) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler()
                        .maximumRedeliveries(maximumRedeliveries)
                        .redeliveryDelay(10)
                        .onRedelivery(exchange -> redeliveries.incrementAndGet()));
                from("direct:in").to(Arrays.copyOf(uris, uris.length));
            }
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void should_wait_for_the_outcome_instead_of_sending_a_second_message(boolean synchronous) throws Exception {
        context.addRoutes(route(20, "redis-delay:orders?delay=1h&synchronous=" + synchronous));
        context.start();
        send("direct:in", "warm", Map.of());

        pause(Duration.ofMillis(1500));
        long begin = System.nanoTime();
        Exchange sent = send("direct:in", "x", Map.of(RedisDelayConstants.DELAY, "2h"));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);

        assertThat(sent.getException()).isNull();
        // Each waits for the outcome for the whole request timeout.
        assertThat((long) redeliveries.get()).isBetween(1L, millis / 300);
        assertThat(sent.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID)).isNotNull();
        assertThat(sent.getMessage().getHeaders()).doesNotContainKey(RedisDelayConstants.DELAY);
        assertThat(waiting()).isEqualTo(2);
    }

    @Test
    void should_wait_for_the_outcome_of_each_message_of_a_batch() throws Exception {
        context.addRoutes(route(20, "redis-delay:orders?delay=1h&batching=true"));
        context.start();
        send("direct:in", "warm", Map.of());

        pause(Duration.ofMillis(2500));
        Exchange sent = send("direct:in", Arrays.asList("a", "b", "c"), Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(redeliveries.get()).isPositive();
        assertThat(waiting()).isEqualTo(4);
    }

    @Test
    void should_remember_the_state_that_a_cancel_really_found() throws Exception {
        context.addRoutes(route(20, "redis-delay:orders?operation=cancel"));
        context.start();
        store("a");

        pause(Duration.ofMillis(2500));
        Exchange cancelled = send("direct:in", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));

        assertThat(redeliveries.get()).isPositive();
        assertThat(cancelled.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("delayed");
    }

    @Test
    void should_remember_what_a_change_really_found_for_each_id_of_a_list() throws Exception {
        context.addRoutes(route(20, "redis-delay:orders?operation=cancel"));
        context.start();
        for (String id : List.of("a", "b")) {
            store(id);
        }

        pause(Duration.ofMillis(2500));
        Exchange cancelled = send("direct:in", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("a", "none", "b")));

        assertThat(cancelled.getException()).isNull();
        assertThat(redeliveries.get()).isPositive();
        assertThat(cancelled.getMessage().getHeader(RedisDelayConstants.RESULT))
                .isEqualTo(List.of("done", "none", "done"));
        assertThat(waiting()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pause",
                "resume",
                "promote&all=true",
                "redrive&all=true",
                "purge&all=true",
                "get",
                "list",
                "stats",
                "outlook"
            })
    void should_do_every_operation_when_redis_answers_again(String operation) throws Exception {
        context.addRoutes(route(20, "redis-delay:orders?operation=" + operation));
        context.start();
        store("a");

        pause(Duration.ofMillis(2500));
        Exchange done = send(
                "direct:in", "x", operation.equals("get") ? Map.of(RedisDelayConstants.SCHEDULE_ID, "a") : Map.of());

        assertThat(done.getException()).isNull();
        assertThat(redeliveries.get()).isPositive();
        assertThat(done.getMessage().getHeader(RedisDelayConstants.QUEUE)).isEqualTo("orders");
        assertThat(waiting()).isOne();
    }

    @Test
    void should_say_that_the_message_may_be_stored_and_can_be_sent_again() throws Exception {
        context.addRoutes(route(1, "redis-delay:orders?delay=1h"));
        context.start();
        send("direct:in", "warm", Map.of());

        pause(Duration.ofMillis(10_000));
        Exchange sent = send("direct:in", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "mine"));

        assertThat(sent.getException())
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("Redis at " + server.address() + " did not answer in time; message 'mine'")
                .hasMessageContaining("may be stored: the same id can safely be sent again");
    }

    @Test
    void should_send_a_new_message_from_another_step_to_the_same_endpoint() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                onException(RequestTimeoutException.class).continued(true);
                from("direct:in").to("redis-delay:orders?delay=1h").to("redis-delay:orders?delay=1h");
            }
        });
        context.start();
        store("warm");

        pause(Duration.ofMillis(500));
        Exchange sent = send("direct:in", "x", Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(waiting()).isEqualTo(3);
    }

    @Test
    void should_not_take_a_later_step_for_the_redelivery_of_an_earlier_one() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler().maximumRedeliveries(3).redeliveryDelay(1));
                from("direct:in")
                        .process(exchange -> {
                            // Leaves its mark on the exchange when it has been repeated.
                            if (tries.incrementAndGet() == 1) {
                                throw new IllegalStateException("flaky");
                            }
                        })
                        .doTry()
                        .to("redis-delay:orders?delay=1h")
                        .doCatch(RequestTimeoutException.class)
                        .setBody(constant("compensation"))
                        .to("direct:compensate")
                        .end();
                from("direct:compensate")
                        .errorHandler(
                                defaultErrorHandler().maximumRedeliveries(20).redeliveryDelay(10))
                        .to("redis-delay:orders?delay=1h");
            }
        });
        context.start();
        store("warm");

        pause(Duration.ofMillis(2500));
        Exchange sent = send("direct:in", "x", Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(waiting()).as("warm, x and compensation").isEqualTo(3);
    }

    /** In each case, another step is redelivered after a step to the same endpoint has failed, and before the next one. */
    @ParameterizedTest
    @ValueSource(strings = {"catch", "continue", "finally"})
    void should_send_the_message_of_a_step_also_if_another_one_was_redelivered_before_it(String shape)
            throws Exception {
        AtomicInteger tries = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler().maximumRedeliveries(20).redeliveryDelay(10));
                from("direct:catch")
                        .doTry()
                        .to("direct:schedule")
                        .doCatch(RequestTimeoutException.class)
                        .end()
                        .to("direct:flaky", "direct:schedule");
                from("direct:continue").to("direct:continued", "direct:flaky", "direct:schedule");
                from("direct:continued")
                        .onException(RequestTimeoutException.class)
                        .maximumRedeliveries(0)
                        .continued(true)
                        .end()
                        .to("direct:schedule");
                from("direct:finally")
                        .doTry()
                        .to("direct:finished")
                        .doCatch(RequestTimeoutException.class)
                        .end()
                        .to("direct:schedule");
                from("direct:finished")
                        .errorHandler(noErrorHandler())
                        .doTry()
                        .to("redis-delay:orders?delay=1h")
                        .doFinally()
                        .to("direct:flaky")
                        .end();
                from("direct:schedule").errorHandler(noErrorHandler()).to("redis-delay:orders?delay=1h");
                from("direct:flaky").process(exchange -> {
                    if (tries.incrementAndGet() == 1) {
                        throw new IllegalStateException("flaky");
                    }
                });
            }
        });
        context.start();
        store("warm");

        pause(Duration.ofMillis(1500));
        Exchange sent = send("direct:" + shape, "x", Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(tries).hasValue(2);
        assertThat(waiting()).as("warm, and two of x").isEqualTo(3);
    }

    @Test
    void should_send_a_second_list_after_a_first_one_failed_and_another_step_was_redelivered() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .doTry()
                        .to("direct:schedule")
                        .doCatch(BatchScheduleException.class)
                        .end()
                        .to("direct:flaky")
                        .setBody(constant(List.of("b")))
                        .to("direct:schedule");
                from("direct:schedule").errorHandler(noErrorHandler()).to("redis-delay:orders?delay=1h&batching=true");
                from("direct:flaky")
                        .errorHandler(
                                defaultErrorHandler().maximumRedeliveries(3).redeliveryDelay(1))
                        .process(exchange -> {
                            if (tries.incrementAndGet() == 1) {
                                throw new IllegalStateException("flaky");
                            }
                        });
            }
        });
        context.start();
        store("a");

        DefaultMessage stored = new DefaultMessage(context);
        stored.setHeader(RedisDelayConstants.SCHEDULE_ID, "a");
        Exchange sent = send("direct:in", List.of(stored), Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(waiting()).as("a and b").isEqualTo(2);
    }

    /** As the error handler of a transaction wraps it. */
    @Test
    void should_wait_for_the_outcome_if_an_outer_step_is_redelivered_with_a_wrapped_exception() throws Exception {
        context.addRoutes(route(20, "direct:inner"));
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:inner")
                        .errorHandler(noErrorHandler())
                        .doTry()
                        .to("redis-delay:orders?delay=1h")
                        .doCatch(RequestTimeoutException.class)
                        .process(exchange -> {
                            throw new IllegalStateException(
                                    exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class));
                        })
                        .end();
            }
        });
        context.start();
        store("warm");

        pause(Duration.ofMillis(1500));
        Exchange sent = send("direct:in", "x", Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(redeliveries.get()).isPositive();
        assertThat(waiting()).as("warm and x").isEqualTo(2);
    }

    @Test
    void should_wait_for_the_outcome_also_if_another_queue_comes_before_it_in_the_redelivered_route() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler()
                        .maximumRedeliveries(20)
                        .redeliveryDelay(10)
                        .onRedelivery(exchange -> call("PING"))); // which Redis answers after its pause
                from("direct:in").to("direct:inner");
                from("direct:inner")
                        .errorHandler(noErrorHandler())
                        .to("redis-delay:audit?delay=1h")
                        .process(exchange -> {
                            if (tries.incrementAndGet() == 1) {
                                pause(Duration.ofMillis(1500));
                            }
                        })
                        .to("redis-delay:orders?delay=1h");
            }
        });
        context.start();
        store("warm");

        Exchange sent = send("direct:in", "x", Map.of());

        assertThat(sent.getException()).isNull();
        assertThat(tries).hasValueGreaterThan(1);
        assertThat(waiting()).as("warm and x").isEqualTo(2);
    }
}
