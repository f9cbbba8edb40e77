// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.FaultyProxy;
import io.github.redisdelay.testkit.LogLines;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A job whose Redis goes away in its midst. */
class JobsIT extends ApiIT {

    private static final int MESSAGES = 5000;

    private FaultyProxy proxy;
    private RedissonClient redisson;
    private DelayQueueClient through;
    private ConsoleApi console;
    private DelayQueue queue;

    @BeforeEach
    void connect() {
        URI server = URI.create(redis.address());
        proxy = new FaultyProxy(server.getHost(), server.getPort());
        Config config = new Config();
        config.useSingleServer().setAddress(proxy.address()).setRetryAttempts(0).setTimeout(1000);
        redisson = Redisson.create(config);
        through = DelayQueueClient.create(
                redisson,
                ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()).withRequestTimeout(Duration.ofSeconds(1)));
        console = new ConsoleApi(
                () -> List.of(new QueueSource(through, proxy.address(), Map.of())),
                List::of,
                ConsoleOptions.DEFAULTS.withQueues(List.of("orders")));
        queue = client.queue("orders");
        scheduleMany(queue, "m", MESSAGES, IN_AN_HOUR);
    }

    @AfterEach
    void disconnect() {
        proxy.heal();
        console.close();
        through.close();
        redisson.shutdown();
        proxy.close();
    }

    private Jobs.View job(Jobs.View begun) {
        return console.job(ANYBODY, begun.id());
    }

    /**
     * Cuts the connection when some pages are done, each of which takes a while, and waits until the job has noticed.
     */
    private Jobs.View cutInTheMidst() {
        proxy.delay(Duration.ofMillis(20));
        Jobs.View begun = console.cancelAll("orders", "orders", false);
        await().until(() -> job(begun).done() > 2 * QueueAdmin.MAX_PAGE);
        proxy.cut();
        await().untilAsserted(() ->
                assertThat(job(begun).waits()).as(job(begun).toString()).isNotNull());
        return begun;
    }

    @Test
    void should_wait_for_redis_and_go_on_when_it_is_back() {
        try (LogLines lines = new LogLines(Job.class)) {
            Jobs.View begun = cutInTheMidst();
            Jobs.View waiting = job(begun);
            assertThat(waiting.running()).isTrue();
            assertThat(waiting.error()).isNull();
            assertThat(waiting.waits()).isNotBlank();
            assertThat(get(queue.admin().stats()).delayed()).isBetween(1L, MESSAGES - 1L);
            proxy.heal();
            await().until(() -> !job(begun).running());
            Jobs.View ended = job(begun);
            assertThat(ended.result())
                    .isEqualTo(MESSAGES
                            + " messages were cancelled; leased messages and recurring schedules were left alone.");
            assertThat(ended.done()).isEqualTo(MESSAGES);
            assertThat(ended.waits()).isNull();
            assertThat(get(queue.admin().stats()).delayed()).isZero();
            assertThat(lines.of(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("console: cancelAll in queue 'orders' waits for Redis after ");
            assertThat(lines.of(Level.INFO))
                    .containsExactly("console: cancelAll in queue 'orders' goes on: Redis answers again");
        }
    }

    @Test
    void should_end_when_it_is_stopped_while_it_waits() {
        Jobs.View begun = cutInTheMidst();
        assertThat(console.stop(begun.id()).outcome()).isEqualTo("done");
        await().until(() -> !job(begun).running());
        assertThat(job(begun).result())
                .endsWith("; then it was stopped while Redis was unreachable: the last 256 of these may be unchanged.");
        proxy.heal();
        long left = get(queue.admin().stats()).delayed();
        assertThat(MESSAGES - left)
                .isBetween(job(begun).done() - 256, job(begun).done());
    }

    @Test
    void should_not_wait_for_a_client_that_was_shut_down() {
        Jobs.View begun = cutInTheMidst();
        redisson.shutdown();
        await().until(() -> !job(begun).running());
        assertThat(job(begun).error()).contains("It has failed after ", "shutdown");
    }

    @Test
    void should_begin_while_redis_is_away() {
        proxy.cut();
        Jobs.View begun = console.cancelAll("orders", "orders", false);
        await().untilAsserted(() ->
                assertThat(job(begun).waits()).as(job(begun).toString()).isNotNull());
        proxy.heal();
        await().until(() -> !job(begun).running());
        assertThat(job(begun).done()).isEqualTo(MESSAGES);
    }

    @Test
    void should_not_wait_for_what_redis_refuses() {
        String key = redis.keyPrefix() + ":{orders}:leased";
        redis.client().getBucket(key).set("no set");
        Jobs.View begun = console.cancelAll("orders", "orders", false);
        await().until(() -> !job(begun).running());
        assertThat(job(begun).error()).contains("It has failed after 0 messages", "WRONGTYPE");
    }
}
