// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.builder.ThreadPoolProfileBuilder;
import org.apache.camel.util.concurrent.ThreadPoolRejectedPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The threads on which the exchanges of a consumer are routed. */
class ConsumerThreadsIT extends ConsumerSideIT {

    private static final int MESSAGES = 30;

    private final List<ThreadPoolExecutor> pools = new ArrayList<>();
    private final Set<String> threads = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> deliveries = new ConcurrentHashMap<>();
    private final CountDownLatch go = new CountDownLatch(1);
    private final LogLines log = new LogLines("io.github.redisdelay.camel.thread.UserPool");
    private final AtomicInteger atATime = new AtomicInteger();
    private final AtomicInteger mostAtATime = new AtomicInteger();

    @AfterEach
    void stop() {
        pools.forEach(ThreadPoolExecutor::shutdownNow);
        log.close();
    }

    /** Makes a pool of two threads without a queue. */
    private void twoThreads(RejectedExecutionHandler policy) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                2,
                2,
                1,
                TimeUnit.MINUTES,
                new SynchronousQueue<>(),
                task -> new Thread(task, "mine-" + number.incrementAndGet()),
                policy);
        pools.add(pool);
        context.getRegistry().bind("mine", pool);
    }

    private void work(Exchange exchange) throws InterruptedException {
        threads.add(Thread.currentThread().getName());
        deliveries.merge(
                exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class)
                        + exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT),
                1,
                Integer::sum);
        mostAtATime.accumulateAndGet(atATime.incrementAndGet(), Math::max);
        go.await(20, TimeUnit.SECONDS);
        atATime.decrementAndGet();
    }

    private void deliver(String options) throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            schedule("m" + i + "-", "x");
        }
        start(consume(options, this::work));
        go.countDown();
        assertEmpty();
    }

    /** Work goes on when the pool has refused some of it. */
    private void deliverOnTwoThreads(RejectedExecutionHandler policy) throws Exception {
        twoThreads(policy);
        for (int i = 0; i < MESSAGES; i++) {
            schedule("m" + i + "-", "x");
        }
        start(consume("?concurrentConsumers=5&executorService=#mine", this::work));
        assertWarned();
        go.countDown();
        assertEmpty();
        assertThat(threads).isSubsetOf("mine-1", "mine-2").isNotEmpty();
        assertThat(mostAtATime.get()).isLessThanOrEqualTo(2);
        assertThat(deliveries).hasSize(MESSAGES).allSatisfy((id, times) -> {
            assertThat(id).as("what was given back has lost no attempt").endsWith("-1");
            assertThat(times).isOne();
        });
        assertThat(stats().dead()).isZero();
    }

    private void assertWarned() {
        await().untilAsserted(() -> assertThat(log.of(Level.WARN))
                .singleElement()
                .asString()
                .startsWith("queue '" + queue
                        + "': the pool of option 'executorService' is full: messages go back to Redis"));
    }

    @Test
    void should_be_named_after_the_component() throws Exception {
        deliver("?concurrentConsumers=3");
        assertThat(threads).allSatisfy(name -> assertThat(name)
                .matches("Camel \\(" + context.getName() + "\\) thread #\\d+ - RedisDelay"));
    }

    @Test
    void should_lose_and_double_nothing_on_a_pool_that_is_too_small() throws Exception {
        deliverOnTwoThreads(new ThreadPoolExecutor.AbortPolicy());
    }

    @Test
    void should_route_nothing_on_the_thread_that_has_claimed() throws Exception {
        deliverOnTwoThreads(new ThreadPoolExecutor.CallerRunsPolicy());
    }

    @Test
    void should_make_batches_on_a_pool_that_is_too_small() throws Exception {
        twoThreads(new ThreadPoolExecutor.AbortPolicy());
        for (int i = 0; i < MESSAGES; i++) {
            schedule("m" + i, "x");
        }
        AtomicInteger received = new AtomicInteger();
        start(consume(
                "?concurrentConsumers=3&batching=true&batchSize=10&batchTimeout=20ms&executorService=#mine",
                exchange -> {
                    threads.add(Thread.currentThread().getName());
                    go.await(20, TimeUnit.SECONDS);
                    received.addAndGet(exchange.getMessage().getBody(List.class).size());
                }));
        assertWarned();
        go.countDown();
        assertEmpty();
        assertThat(received).hasValue(MESSAGES);
        assertThat(threads).isSubsetOf("mine-1", "mine-2").isNotEmpty();
    }

    @Test
    void should_take_the_threads_of_a_profile() throws Exception {
        context.getExecutorServiceManager()
                .registerThreadPoolProfile(new ThreadPoolProfileBuilder("redis-delay")
                        .poolSize(2)
                        .maxPoolSize(2)
                        .maxQueueSize(100)
                        .rejectedPolicy(ThreadPoolRejectedPolicy.CallerRuns)
                        .build());
        deliver("?concurrentConsumers=5");
        assertThat(threads).hasSizeLessThanOrEqualTo(2).allSatisfy(name -> assertThat(name)
                .endsWith(" - RedisDelay"));
        assertThat(mostAtATime.get()).isLessThanOrEqualTo(2);
        assertThat(deliveries).hasSize(MESSAGES);
    }

    @Test
    void should_deliver_again_what_a_pool_drops_that_is_shut_down() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pools.add(pool);
        context.getRegistry().bind("mine", pool);
        context.getShutdownStrategy().setTimeout(1);
        schedule("a", "x");
        schedule("b", "x");
        start(consume(
                "?concurrentConsumers=2&visibilityTimeout=500ms&redeliveryDelay=20ms&executorService=#mine",
                this::work));
        await().untilAsserted(() -> assertThat(pool.getQueue()).hasSize(1));
        assertThat(pool.shutdownNow()).hasSize(1);
        context.getRouteController().stopRoute("consumer");
        context.removeRoute("consumer");
        go.countDown();
        start(consume("", this::take));
        assertThat(List.of(next(), next()))
                .extracting(message -> message.getHeader(RedisDelayConstants.MESSAGE_ID))
                .containsExactlyInAnyOrder("a", "b");
        assertEmpty();
    }

    @Test
    void should_refuse_a_pool_that_forgets_tasks() throws Exception {
        twoThreads(new ThreadPoolExecutor.DiscardPolicy());
        assertThatThrownBy(() -> start(consume("?executorService=#mine", this::work)))
                .hasStackTraceContaining(
                        "queue '" + queue + "': the pool of option 'executorService' silently drops tasks");
    }
}
