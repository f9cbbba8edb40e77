// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.codec.ByteArrayCodec;

/** A consumer that has stopped in order is known to Redis no more, however short its life was. */
@Timeout(120)
class StoppedConsumerIT extends ConsumerSideIT {

    private String key(String name) {
        return "redis-delay:{" + queue + "}:" + name;
    }

    private int consumers() {
        return redis.client().getMap(key("consumers"), ByteArrayCodec.INSTANCE).size();
    }

    private int waiters() {
        return redis.client()
                .getScoredSortedSet(key("waiters"), ByteArrayCodec.INSTANCE)
                .size();
    }

    private int sessions() {
        return redis.client().getMap(key("sessions"), ByteArrayCodec.INSTANCE).size();
    }

    private void assertGone() {
        assertThat(consumers()).as("consumers that Redis lists").isZero();
        assertThat(waiters()).as("waiters").isZero();
    }

    /** A context with a connection of its own, which it closes. */
    private void live(long millis) throws Exception {
        try (DefaultCamelContext own = newContext()) {
            own.addRoutes(consume("?address=" + redis.address(), this::take));
            own.start();
            long until = System.nanoTime() + millis * 1_000_000;
            await().until(() -> System.nanoTime() >= until);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 5, 200})
    void should_be_gone_when_its_context_is_closed(long millis) throws Exception {
        for (int i = 0; i < 5; i++) {
            live(millis);
            assertGone();
        }
    }

    @Test
    void should_be_gone_when_its_route_is_stopped() throws Exception {
        start(consume("", this::take));
        context.getRouteController().stopRoute("consumer");
        assertGone();
        for (int i = 0; i < 20; i++) {
            context.getRouteController().startRoute("consumer");
            context.getRouteController().stopRoute("consumer");
            assertGone();
        }
    }

    @Test
    void should_be_the_only_one_after_many_restarts() throws Exception {
        start(consume("", this::take));
        AtomicInteger most = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            context.getRouteController().stopRoute("consumer");
            context.getRouteController().startRoute("consumer");
            most.accumulateAndGet(consumers(), Math::max);
        }
        await().untilAsserted(() -> {
            assertThat(consumers()).as("consumers that Redis lists").isOne();
            assertThat(waiters()).as("waiters").isOne();
        });
        assertThat(most).as("the most consumers").hasValueLessThanOrEqualTo(1);
        assertThat(sessions())
                .as("one session of claims, and one of the client's changes, which set the groups' limit")
                .isEqualTo(2);
        schedule("a", "a");
        assertThat(next().getBody()).isEqualTo("a");
    }
}
