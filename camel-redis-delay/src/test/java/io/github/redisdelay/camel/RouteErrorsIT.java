// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.delivery.RouteOutcome;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.camel.Body;
import org.apache.camel.CamelExchangeException;
import org.apache.camel.CamelExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.engine.PooledExchangeFactory;
import org.apache.camel.support.DefaultExchange;
import org.apache.camel.support.SynchronizationAdapter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An {@code Error} out of a route is a failure like any other, and what is noted of a failure is its cause. */
class RouteErrorsIT extends ConsumerSideIT {

    /** Is called by routes. */
    public static final class Bean {
        public void work(@Body String body) {
            throw new StackOverflowError("too deep");
        }
    }

    static Stream<Error> errors() {
        return Stream.of(
                new StackOverflowError("too deep"), new AssertionError("too deep"), new OutOfMemoryError("too deep"));
    }

    private RouteBuilder failing(String options, Error error, boolean errorHandler) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                if (!errorHandler) {
                    errorHandler(noErrorHandler());
                }
                from(uri + options).routeId("consumer").to("direct:inner");
                from("direct:inner").routeId("inner").process(exchange -> {
                    take(exchange);
                    throw error;
                });
            }
        };
    }

    @ParameterizedTest
    @MethodSource("errors")
    void should_follow_the_redelivery_policy_and_note_class_and_message(Error error) throws Exception {
        start(failing("?redeliveryDelays=10ms,400ms&redeliveryJitter=0", error, error instanceof AssertionError));
        schedule("x", "x");
        next();
        long second = next().getHeader(RedisDelayConstants.DUE_TIME, long.class);
        long third = next().getHeader(RedisDelayConstants.DUE_TIME, long.class);
        assertThat(third - second).isBetween(400L, 5_000L); // by default it would be 10 s and more
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter())
                .contains(error.getClass().getName(), "too deep", "\"attempt\":3", "\"failed\"")
                .contains("\"routeId\":\"consumer\"");
        assertThat(received).isEmpty();
        assertEmpty();
        assertNothingInFlight();
        long before = System.nanoTime();
        context.stop();
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - before))
                .as("seconds to stop")
                .isLessThan(5);
    }

    @Test
    void should_note_the_error_of_a_bean_and_not_what_Camel_puts_around_it() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?maximumRedeliveries=0").bean(new Bean(), "work");
            }
        });
        schedule("x", "x");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter())
                .contains("java.lang.StackOverflowError", "too deep", "\"failed\"")
                .doesNotContain("CamelExecutionException");
    }

    @Test
    void should_return_a_whole_batch() throws Exception {
        start(failing(
                "?batching=true&batchSize=2&batchTimeout=1s&maximumRedeliveries=0",
                new StackOverflowError("too deep"),
                true));
        schedule("a", "a");
        schedule("b", "b");
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(2));
        assertThat(failureOfDeadLetter()).contains("java.lang.StackOverflowError", "too deep", "\"failed\"");
        assertEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "several", "split", "multicast", "pooled"})
    void should_leave_nothing_of_a_route_that_ended_in_an_Error(String shape) throws Exception {
        if (shape.equals("pooled")) {
            context.getCamelContextExtension().setExchangeFactory(new PooledExchangeFactory());
        }
        Processor work = exchange -> {
            take(exchange);
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) < 3) {
                throw new StackOverflowError("too deep");
            }
        };
        List<Object> after = new CopyOnWriteArrayList<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                var route = from(uri + "?redeliveryDelay=10ms&redeliveryJitter=0&backOffMultiplier=1")
                        .routeId("consumer");
                switch (shape) {
                    case "one" -> route.process(work);
                    case "split" -> route.split(body().tokenize(",")).to("direct:inner");
                    case "multicast" -> route.multicast().to("direct:inner", "direct:inner");
                    default ->
                        route.process(work)
                                .process(exchange ->
                                        after.add(exchange.getMessage().getBody()));
                }
                from("direct:inner").routeId("inner").log("inner").process(work).log("done");
            }
        });
        schedule("a", "a,b");
        schedule("c", "c,d");
        assertNothingLeft();
        assertThat(stats().dead()).isZero();
        boolean parts = shape.equals("split") || shape.equals("multicast");
        assertThat(received).hasSize(parts ? 12 : 6);
        if (shape.equals("several") || shape.equals("pooled")) {
            assertThat(after).containsExactlyInAnyOrder("a,b", "c,d");
        }
    }

    private RouteBuilder completing(org.apache.camel.spi.Synchronization completion) {
        return consume("?concurrentConsumers=1", exchange -> {
            take(exchange);
            exchange.getExchangeExtension().addOnCompletion(completion);
        });
    }

    private void assertNothingLeft() {
        assertEmpty();
        await().until(() -> consumer().getProcessing() == 0);
        assertNothingInFlight();
    }

    /** An exchange is in flight until its completions have run, and one of them tells Redis. */
    private void assertNothingInFlight() {
        await().untilAsserted(() -> {
            assertThat(context.getInflightRepository().size()).as("in flight").isZero();
            for (String route : List.of("consumer", "inner")) {
                assertThat(context.getInflightRepository().size(route))
                        .as("in flight in %s", route)
                        .isZero();
            }
        });
    }

    @Test
    void should_acknowledge_when_a_completion_of_the_exchange_ends_in_an_Error() throws Exception {
        start(completing(new SynchronizationAdapter() {
            @Override
            public void onDone(Exchange exchange) {
                throw new AssertionError("too late");
            }
        }));
        schedule("a", "a");
        assertThat(next().getBody()).isEqualTo("a");
        schedule("b", "b");
        assertThat(next().getBody()).isEqualTo("b");
        assertNothingLeft();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_return_what_failed_when_a_completion_of_the_exchange_ends_in_an_Error() throws Exception {
        start(consume("?redeliveryDelays=10ms&redeliveryJitter=0", exchange -> {
            take(exchange);
            exchange.getExchangeExtension().addOnCompletion(new SynchronizationAdapter() {
                @Override
                public void onFailure(Exchange failed) {
                    throw new AssertionError("too late");
                }
            });
            throw new IllegalStateException("not today");
        }));
        schedule("x", "x");
        next();
        next();
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("java.lang.IllegalStateException", "not today", "\"failed\"");
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_count_what_is_in_flight_when_onCompletion_ends_in_an_Error(boolean before) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                var route =
                        from(uri + "?redeliveryDelays=10ms&redeliveryJitter=0").routeId("consumer");
                var completion = route.onCompletion();
                if (before) {
                    completion.modeBeforeConsumer();
                }
                completion
                        .process(exchange -> {
                            take(exchange);
                            throw new StackOverflowError("too deep");
                        })
                        .end()
                        .log("x");
            }
        });
        schedule("x", "x");
        next();
        assertNothingLeft();
    }

    @Test
    void should_note_only_what_says_something_of_the_failure() {
        Exchange exchange = new DefaultExchange(context);
        IOException cause = new IOException("disk");
        assertCause(exchange, cause, cause);
        assertCause(exchange, new RuntimeCamelException(cause), cause);
        assertCause(exchange, CamelExecutionException.wrapCamelExecutionException(exchange, cause), cause);
        assertCause(
                exchange,
                new CamelExchangeException("Multicast processing failed for number 1", exchange, cause),
                cause);
        RuntimeCamelException own = new RuntimeCamelException("order 7 cannot be closed", cause);
        assertCause(exchange, own, own);
        CamelExchangeException checked = new CamelExchangeException("order 7 cannot be closed", exchange, cause);
        assertCause(exchange, checked, checked);
        RuntimeCamelException bare = new RuntimeCamelException("nothing below");
        assertCause(exchange, bare, bare);
    }

    private static void assertCause(Exchange exchange, Throwable thrown, Throwable noted) {
        exchange.setException(thrown);
        assertThat(RouteOutcome.of(exchange, true, reason -> false).cause()).isSameAs(noted);
    }
}
