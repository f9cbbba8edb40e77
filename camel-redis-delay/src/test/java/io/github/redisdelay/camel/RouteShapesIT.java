// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.Route;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.RouteDefinition;
import org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy;
import org.apache.camel.support.RoutePolicySupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which routes acknowledge a message, and which return it: each row of the table in docs/consuming.md is a test. */
class RouteShapesIT extends CamelRedisIT {

    private static final String FULL = "seda:full?size=1";

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    /** How many exchanges the route has begun. */
    private final AtomicInteger routed = new AtomicInteger();
    /** How many came to where they fail. */
    private final AtomicInteger failed = new AtomicInteger();

    /** More options of the consumer. */
    private String more = "";

    /** One redelivery in an hour: what is returned waits. */
    private String from() {
        return uri + "?redeliveryDelay=1h&redeliveryJitter=0" + more;
    }

    private interface Shape {
        void build(RouteBuilder routes, RouteDefinition from) throws Exception;
    }

    private void run(Shape shape) throws Exception {
        context.start();
        // A queue in memory that nobody empties, and that has no room.
        template.sendBody(FULL, "x");
        start(new RouteBuilder() {
            @Override
            public void configure() throws Exception {
                from("direct:fail").errorHandler(noErrorHandler()).process(exchange -> {
                    failed.incrementAndGet();
                    throw new IllegalStateException("broken");
                });
                from("direct:block").errorHandler(noErrorHandler()).process(exchange -> {
                    begun.countDown();
                    go.await(20, TimeUnit.SECONDS);
                });
                shape.build(
                        this, from(RouteShapesIT.this.from()).routeId("shape").routePolicy(new RoutePolicySupport() {
                            @Override
                            public void onExchangeBegin(Route route, Exchange exchange) {
                                routed.incrementAndGet();
                            }
                        }));
            }
        });
        assertThat(send(uri, "x", Map.of()).getException()).isNull();
    }

    private void assertAcknowledged() {
        await().untilAsserted(() -> {
            assertThat(routed).as("exchanges of the route").hasValue(1);
            assertThat(stats().delayed()).as("waiting").isZero();
            assertThat(stats().leased()).as("leased").isZero();
            assertThat(stats().dead()).as("dead").isZero();
        });
    }

    private void assertReturned() {
        await().untilAsserted(() -> {
            assertThat(stats().nextDueMicros()).as("due again in an hour").isGreaterThan(3_500_000_000L);
            assertThat(stats().leased()).as("leased").isZero();
        });
    }

    private void assertHeldUntilTheWorkIsDone() throws Exception {
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(stats().leased()).isOne();
        go.countDown();
        assertAcknowledged();
    }

    @Test
    void success_acknowledges() throws Exception {
        run((routes, from) -> from.log("done"));
        assertAcknowledged();
    }

    @Test
    void an_exception_returns() throws Exception {
        run((routes, from) -> from.to("direct:fail"));
        assertReturned();
    }

    @Test
    void onException_handled_acknowledges() throws Exception {
        run((routes, from) -> from.onException(IllegalStateException.class)
                .handled(true)
                .end()
                .to("direct:fail"));
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void onException_continued_acknowledges() throws Exception {
        run((routes, from) -> from.onException(IllegalStateException.class)
                .continued(true)
                .end()
                .to("direct:fail"));
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void doTry_with_doCatch_acknowledges() throws Exception {
        run((routes, from) -> from.doTry()
                .to("direct:fail")
                .doCatch(IllegalStateException.class)
                .log("caught")
                .end());
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void a_dead_letter_channel_acknowledges() throws Exception {
        run((routes, from) -> from.errorHandler(routes.deadLetterChannel("log:dead?level=DEBUG"))
                .to("direct:fail"));
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void stop_acknowledges() throws Exception {
        run((routes, from) -> from.stop().to("direct:fail"));
        assertAcknowledged();
        assertThat(failed).hasValue(0);
    }

    @Test
    void a_filter_that_lets_nothing_through_acknowledges() throws Exception {
        run((routes, from) ->
                from.filter(routes.constant(false)).to("direct:fail").end());
        assertAcknowledged();
        assertThat(failed).hasValue(0);
    }

    @Test
    void rollback_returns() throws Exception {
        run((routes, from) -> from.rollback("no"));
        assertReturned();
    }

    @Test
    void markRollbackOnly_returns() throws Exception {
        run((routes, from) -> from.markRollbackOnly());
        assertReturned();
    }

    @Test
    void markRollbackOnlyLast_returns() throws Exception {
        run((routes, from) -> from.markRollbackOnlyLast());
        assertReturned();
    }

    @Test
    void seda_acknowledges_when_its_route_is_done() throws Exception {
        run((routes, from) -> {
            from.to("seda:later");
            routes.from("seda:later").to("direct:block");
        });
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void seda_returns_what_fails_in_its_route() throws Exception {
        run((routes, from) -> {
            from.to("seda:later");
            routes.from("seda:later").to("direct:fail");
        });
        assertReturned();
    }

    @Test
    void threads_acknowledges_when_the_work_is_done() throws Exception {
        run((routes, from) -> from.threads(2).to("direct:block"));
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void an_asynchronous_delay_acknowledges_after_it() throws Exception {
        run((routes, from) -> from.delay(200).asyncDelayed().end().to("direct:block"));
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void wireTap_does_not_wait_for_the_tapped_copy() throws Exception {
        run((routes, from) -> from.wireTap("direct:block"));
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        assertAcknowledged();
        go.countDown();
    }

    @Test
    void wireTap_does_not_return_what_fails_in_the_tapped_copy() throws Exception {
        run((routes, from) -> from.wireTap("direct:fail"));
        assertAcknowledged();
        await().untilAsserted(() -> assertThat(failed).hasValue(1));
    }

    @Test
    void a_failure_after_seda_returns() throws Exception {
        run((routes, from) -> {
            from.to("seda:later").to("direct:fail");
            routes.from("seda:later").to("direct:block");
        });
        assertReturned();
        go.countDown();
    }

    @Test
    void a_full_seda_returns() throws Exception {
        run((routes, from) -> from.to(FULL));
        assertReturned();
    }

    /** Camel has handed the completion to a copy that the queue then refused. */
    @ParameterizedTest
    @ValueSource(strings = {"deadLetterChannel", "handled", "continued", "doTry"})
    void a_full_seda_returns_although_its_failure_is_handled(String how) throws Exception {
        run((routes, from) -> {
            switch (how) {
                case "deadLetterChannel" ->
                    from.errorHandler(routes.deadLetterChannel("log:dead?level=DEBUG"))
                            .to(FULL);
                case "handled" ->
                    from.onException(IllegalStateException.class)
                            .handled(true)
                            .end()
                            .to(FULL);
                case "continued" ->
                    from.onException(IllegalStateException.class)
                            .continued(true)
                            .end()
                            .to(FULL);
                default ->
                    from.doTry()
                            .to(FULL)
                            .doCatch(IllegalStateException.class)
                            .log("caught")
                            .end();
            }
        });
        assertReturned();
        assertPlacesAreFree();
    }

    @Test
    void a_full_seda_returns_although_a_redelivery_of_the_step_succeeds() throws Exception {
        run((routes, from) -> {
            from.errorHandler(routes.defaultErrorHandler()
                            .maximumRedeliveries(3)
                            .redeliveryDelay(0)
                            .onRedelivery(
                                    exchange -> context.createConsumerTemplate().receive(FULL, 10_000)))
                    .to(FULL);
        });
        assertReturnedAsGarbage();
        assertPlacesAreFree();
    }

    @Test
    void a_full_seda_behind_another_returns() throws Exception {
        run((routes, from) -> {
            from.to("seda:later");
            routes.from("seda:later").to(FULL);
        });
        assertReturned();
        assertPlacesAreFree();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_full_seda_returns_a_polled_message(boolean handled) throws Exception {
        context.start();
        template.sendBody(FULL, "x");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                onException(IllegalStateException.class).handled(handled);
                from("direct:poll")
                        .pollEnrich(RouteShapesIT.this.from(), 10_000)
                        .to(FULL);
            }
        });
        send(uri, "x", Map.of());
        template.send("direct:poll", exchange -> {});
        assertReturned();
    }

    @Test
    void a_failure_after_seda_returns_a_polled_message() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:poll")
                        .pollEnrich(RouteShapesIT.this.from(), 10_000)
                        .to("seda:later")
                        .throwException(new IllegalStateException("broken"));
                from("seda:later").process(exchange -> go.await(20, TimeUnit.SECONDS));
            }
        });
        send(uri, "x", Map.of());
        template.send("direct:poll", exchange -> {});
        go.countDown();
        assertReturned();
    }

    @Test
    void a_handled_failure_after_seda_leaves_the_message_to_the_work_there() throws Exception {
        run((routes, from) -> {
            from.to("seda:later")
                    .doTry()
                    .process(exchange -> {
                        failed.incrementAndGet();
                        throw new IllegalStateException("broken");
                    })
                    .doCatch(IllegalStateException.class);
            routes.from("seda:later").to("direct:block");
        });
        await().untilAsserted(() -> assertThat(failed).hasValue(1));
        await().until(() -> context.getInflightRepository().size("shape") == 0);
        assertHeldUntilTheWorkIsDone();
    }

    @ParameterizedTest
    @ValueSource(strings = {FULL, FULL + "&waitForTaskToComplete=Always", "seda:nobody?failIfNoConsumers=true"})
    void a_seda_that_refuses_after_another_leaves_the_message_to_the_work_there(String refusing) throws Exception {
        run((routes, from) -> {
            from.to("seda:later")
                    .doTry()
                    .to(refusing)
                    .doCatch(Exception.class)
                    .process(exchange -> failed.incrementAndGet())
                    .end();
            routes.from("seda:later").to("direct:block");
        });
        await().untilAsserted(() -> assertThat(failed).hasValue(1));
        await().until(() -> context.getInflightRepository().size("shape") == 0);
        assertHeldUntilTheWorkIsDone();
    }

    /** Nothing ever completes what was discarded, until its copy is found to be garbage. */
    @Test
    void a_full_seda_that_discards_returns() throws Exception {
        run((routes, from) -> from.to(FULL + "&discardWhenFull=true"));
        assertReturnedAsGarbage();
        assertPlacesAreFree();
    }

    @Test
    void seda_returns_what_ends_with_an_error_in_its_route() throws Exception {
        run((routes, from) -> {
            from.to("seda:later");
            routes.from("seda:later").process(exchange -> {
                // It ends the thread, and tests beside this one would see it.
                Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> {});
                throw new AssertionError("broken");
            });
        });
        assertReturnedAsGarbage();
        assertPlacesAreFree();
    }

    private void assertReturnedAsGarbage() {
        await().until(() -> routed.get() == 1);
        await().untilAsserted(() -> {
            System.gc();
            assertThat(stats().leased()).as("leased").isZero();
        });
        assertReturned();
    }

    private void assertPlacesAreFree() {
        RedisDelayConsumer consumer =
                (RedisDelayConsumer) context.getRoute("shape").getConsumer();
        await().untilAsserted(() ->
                assertThat(consumer.getProcessing()).as("places that are lost").isZero());
    }

    @Test
    void multicast_acknowledges_after_all_parts() throws Exception {
        run((routes, from) -> from.multicast()
                .parallelProcessing()
                .to("log:part?level=DEBUG", "direct:block")
                .end());
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void multicast_returns_if_one_part_failed() throws Exception {
        run((routes, from) ->
                from.multicast().to("direct:fail", "log:part?level=DEBUG").end());
        assertReturned();
    }

    @Test
    void multicast_with_an_aggregation_strategy_acknowledges_although_a_later_part_failed() throws Exception {
        run((routes, from) -> from.multicast(new GroupedBodyAggregationStrategy())
                .to("log:part?level=DEBUG", "direct:fail")
                .end());
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void multicast_with_an_aggregation_strategy_that_stops_on_an_exception_returns() throws Exception {
        run((routes, from) -> from.multicast(new GroupedBodyAggregationStrategy())
                .stopOnException()
                .to("log:part?level=DEBUG", "direct:fail")
                .end());
        assertReturned();
    }

    @Test
    void split_acknowledges_after_all_parts() throws Exception {
        run((routes, from) -> from.split(routes.constant(List.of("a", "b")))
                .parallelProcessing()
                .to("direct:block")
                .end());
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void split_does_not_wait_for_a_part_in_seda() throws Exception {
        run((routes, from) -> {
            from.split(routes.constant(List.of("a", "b"))).to("seda:later").end();
            routes.from("seda:later").to("direct:block");
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        assertAcknowledged();
        go.countDown();
    }

    @Test
    void split_returns_if_one_part_failed() throws Exception {
        run((routes, from) -> from.split(routes.constant(List.of("a", "b")))
                .filter(routes.body().isEqualTo("a"))
                .to("direct:fail")
                .end()
                .end());
        assertReturned();
    }

    @Test
    void split_with_an_aggregation_strategy_acknowledges_although_a_later_part_failed() throws Exception {
        run((routes, from) -> from.split(routes.constant(List.of("a", "b")), new GroupedBodyAggregationStrategy())
                .filter(routes.body().isEqualTo("b"))
                .to("direct:fail")
                .end()
                .end());
        assertAcknowledged();
        assertThat(failed).hasValue(1);
    }

    @Test
    void split_with_an_aggregation_strategy_returns_if_the_first_part_failed() throws Exception {
        run((routes, from) -> from.split(routes.constant(List.of("a", "b")), new GroupedBodyAggregationStrategy())
                .filter(routes.body().isEqualTo("a"))
                .to("direct:fail")
                .end()
                .end());
        assertReturned();
    }

    @Test
    void split_with_an_aggregation_strategy_that_stops_on_an_exception_returns() throws Exception {
        run((routes, from) -> from.split(routes.constant(List.of("a", "b")), new GroupedBodyAggregationStrategy())
                .stopOnException()
                .filter(routes.body().isEqualTo("b"))
                .to("direct:fail")
                .end()
                .end());
        assertReturned();
        assertThat(failed).hasValue(1);
    }

    @Test
    void aggregate_acknowledges_at_once() throws Exception {
        run((routes, from) -> from.aggregate(routes.constant(true), new GroupedBodyAggregationStrategy())
                .completionSize(2)
                .to("direct:block")
                .end());
        assertAcknowledged();
        assertThat(begun.getCount())
                .as("nothing came out of the aggregator yet")
                .isOne();
    }

    @Test
    void resequence_acknowledges_when_the_work_behind_it_is_done() throws Exception {
        run((routes, from) -> from.setHeader("number", routes.constant(1L)).resequence(routes.header("number")).stream()
                .timeout(200)
                .to("direct:block"));
        assertHeldUntilTheWorkIsDone();
    }

    @Test
    void resequence_returns_what_it_ignores() throws Exception {
        run((routes, from) -> from.resequence(routes.header("number")).stream()
                .timeout(50)
                .ignoreInvalidExchanges()
                .to("direct:block"));
        assertReturnedAsGarbage();
        assertThat(begun.getCount()).as("it goes nowhere").isOne();
    }

    @Test
    void an_error_returns() throws Exception {
        run((routes, from) -> from.process(exchange -> {
            throw new AssertionError("broken");
        }));
        assertReturned();
    }

    /** A limit of Camel's: nobody hears of the error, and the thread's next exchange goes on with this one as if there had been none. */
    @Test
    void threads_forgets_an_error() throws Exception {
        more = "&concurrentConsumers=2";
        run((routes, from) -> from.threads(1, 1).process(exchange -> {
            begun.countDown();
            if (exchange.getMessage().getBody(String.class).equals("x")) {
                throw new AssertionError("broken");
            }
        }));
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(5)).until(() -> stats().leased() == 1);
        send(uri, "next", Map.of());
        await().untilAsserted(() -> assertThat(stats().leased() + stats().delayed() + stats().dead())
                .isZero());
    }

    @Test
    void threads_returns_what_a_bean_ends_with_an_error() throws Exception {
        run((routes, from) -> from.threads(1, 1).bean(new Object() {
            public void work() {
                throw new AssertionError("broken");
            }
        }));
        assertReturned();
    }

    @Test
    void a_forward_to_another_queue_acknowledges_when_it_is_stored() throws Exception {
        String other = redis.uniqueQueue();
        run((routes, from) -> from.to("redis-delay:" + other + "?delay=1h"));
        assertAcknowledged();
        assertThat(outside.queue(other).admin().stats().join().delayed()).isOne();
    }
}
