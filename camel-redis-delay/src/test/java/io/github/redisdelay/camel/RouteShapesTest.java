// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.RouteDefinition;
import org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy;
import org.junit.jupiter.api.Test;

/** Which routes acknowledge a message, and which return it: each row of the README's table is a test. */
class RouteShapesTest extends CamelRedisTest {

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    /** One redelivery in an hour: what is returned waits. */
    private String from() {
        return uri + "?redeliveryDelay=1h&redeliveryJitter=0";
    }

    private interface Shape {
        void build(RouteBuilder routes, RouteDefinition from) throws Exception;
    }

    private void run(Shape shape) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() throws Exception {
                from("direct:fail").errorHandler(noErrorHandler()).process(exchange -> {
                    throw new IllegalStateException("broken");
                });
                from("direct:block").errorHandler(noErrorHandler()).process(exchange -> {
                    begun.countDown();
                    go.await(20, TimeUnit.SECONDS);
                });
                shape.build(this, from(RouteShapesTest.this.from()).routeId("shape"));
            }
        });
        assertThat(send(uri, "x", Map.of()).getException()).isNull();
    }

    private void assertAcknowledged() {
        await().untilAsserted(() -> {
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
    }

    @Test
    void onException_continued_acknowledges() throws Exception {
        run((routes, from) -> from.onException(IllegalStateException.class)
                .continued(true)
                .end()
                .to("direct:fail"));
        assertAcknowledged();
    }

    @Test
    void doTry_with_doCatch_acknowledges() throws Exception {
        run((routes, from) -> from.doTry()
                .to("direct:fail")
                .doCatch(IllegalStateException.class)
                .log("caught")
                .end());
        assertAcknowledged();
    }

    @Test
    void a_dead_letter_channel_acknowledges() throws Exception {
        run((routes, from) -> from.errorHandler(routes.deadLetterChannel("log:dead?level=DEBUG"))
                .to("direct:fail"));
        assertAcknowledged();
    }

    @Test
    void stop_acknowledges() throws Exception {
        run((routes, from) -> from.stop().to("direct:fail"));
        assertAcknowledged();
    }

    @Test
    void a_filter_that_lets_nothing_through_acknowledges() throws Exception {
        run((routes, from) ->
                from.filter(routes.constant(false)).to("direct:fail").end());
        assertAcknowledged();
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
    }

    @Test
    void multicast_and_split_acknowledge_after_all_parts() throws Exception {
        run((routes, from) -> from.multicast()
                .parallelProcessing()
                .to("log:part?level=DEBUG", "direct:block")
                .end());
        assertHeldUntilTheWorkIsDone();
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
    void a_forward_to_another_queue_acknowledges_when_it_is_stored() throws Exception {
        String other = redis.uniqueQueue();
        run((routes, from) -> from.to("redis-delay:" + other + "?delay=1h"));
        assertAcknowledged();
        assertThat(outside.queue(other).stats().join().delayed()).isOne();
    }
}
