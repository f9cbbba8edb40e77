// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.CamelRedisIT;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.connection.ClientRegistry;
import io.github.redisdelay.camel.connection.RefCounted;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.camel.RuntimeCamelException;
import org.junit.jupiter.api.Test;

/** A queue's figures in JMX. */
class ManagedQueueFiguresIT extends CamelRedisIT {

    private final AtomicLong nanoTime = new AtomicLong(-5);

    private ManagedQueue figures(RedisDelayEndpoint endpoint) {
        return new ManagedQueue(endpoint, nanoTime::get);
    }

    @Test
    void should_show_the_figures_without_a_producer_or_consumer() throws Exception {
        try (var managed = newContextWithJmx()) {
            managed.getManagementStrategy();
            managed.getRegistry().bind("redisson", redis.client());
            managed.getEndpoint(uri); // Camel registers what is there when it starts
            managed.start();
            context.start();
            send(uri + "?delay=1h", "x", Map.of());
            send(uri, "x", Map.of(RedisDelayConstants.DELIVER_AT, System.currentTimeMillis() - 60_000));
            send(uri + "?operation=pause", "x", Map.of());

            MBeanServer server =
                    managed.getManagementStrategy().getManagementAgent().getMBeanServer();
            ObjectName endpoint = server.queryNames(
                            new ObjectName(
                                    "org.apache.camel:context=" + managed.getManagementName() + ",type=queues,*"),
                            null)
                    .iterator()
                    .next();
            assertThat(server.getAttribute(endpoint, "Delayed")).isEqualTo(2L);
            assertThat(server.getAttribute(endpoint, "Overdue")).isEqualTo(1L);
            assertThat(server.getAttribute(endpoint, "Leased")).isEqualTo(0L);
            assertThat(server.getAttribute(endpoint, "Dead")).isEqualTo(0L);
            assertThat((Long) server.getAttribute(endpoint, "OldestOverdueMillis"))
                    .isGreaterThanOrEqualTo(60_000);
            assertThat((Long) server.getAttribute(endpoint, "NextDueMillis")).isBetween(3_500_000L, 3_600_000L);
            assertThat(server.getAttribute(endpoint, "Consumers")).isEqualTo(0);
            assertThat(server.getAttribute(endpoint, "Paused")).isEqualTo(true);
        }
    }

    @Test
    void should_be_those_of_the_dead_letters_on_their_endpoint() {
        context.start();
        send(uri + "?delay=1h", "x", Map.of());
        send(uri + "?operation=pause&state=dead", "x", Map.of());
        ManagedQueue figures = figures((RedisDelayEndpoint) context.getEndpoint(uri + "?state=dead"));
        assertThat(figures.getDelayed()).isZero();
        assertThat(figures.isPaused()).isTrue();
    }

    @Test
    void should_ask_redis_once_a_second() {
        context.start();
        ManagedQueue figures = figures((RedisDelayEndpoint) context.getEndpoint(uri));
        assertThat(figures.getDelayed()).isZero();
        send(uri + "?delay=1h", "x", Map.of());

        nanoTime.addAndGet(Duration.ofMillis(999).toNanos());
        assertThat(figures.getDelayed()).isZero();
        nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(figures.getDelayed()).isOne();
    }

    @Test
    void should_say_clearly_and_soon_that_redis_is_not_there() throws Exception {
        String address;
        try (RedisServer gone = RedisServer.dedicated()) {
            address = gone.address();
        }
        context.start();
        RedisDelayEndpoint endpoint =
                context.getEndpoint(uri + "?requestTimeout=1s&address=" + address, RedisDelayEndpoint.class);
        ManagedQueue figures = figures(endpoint);
        long start = System.nanoTime();
        assertThatThrownBy(figures::getDelayed)
                .isInstanceOf(RuntimeCamelException.class)
                .hasMessageContaining(queue)
                .hasMessageContaining(address);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
        Throwable first = catchThrowable(figures::getDelayed);
        assertThat(catchThrowable(figures::getDelayed))
                .as("the failure holds for a second, or each of the figures would wait")
                .isSameAs(first);
    }

    @Test
    void should_show_the_figures_again_when_redis_is_back() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            context.start();
            RedisDelayEndpoint endpoint = context.getEndpoint(
                    uri + "?requestTimeout=2s&address=" + server.address(), RedisDelayEndpoint.class);
            try (var ignored = new Held(endpoint)) {
                ManagedQueue figures = figures(endpoint);
                assertThat(figures.getDelayed()).isZero();
                server.kill();
                nanoTime.addAndGet(Duration.ofSeconds(1).toNanos());
                assertThatThrownBy(figures::getDelayed)
                        .isInstanceOf(RuntimeCamelException.class)
                        .hasMessageContaining(queue);
                server.start();
                await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
                    nanoTime.addAndGet(Duration.ofSeconds(1).toNanos());
                    return figures.getDelayed() == 0;
                });
            }
        }
    }

    /** Keeps the endpoint's client open, as a producer or consumer does. */
    private record Held(RefCounted.Reference<ClientRegistry.OpenClient> client) implements AutoCloseable {

        Held(RedisDelayEndpoint endpoint) throws Exception {
            this(endpoint.acquireClient());
        }

        @Override
        public void close() {
            client.release();
        }
    }
}
