// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.camel.AsyncProducer;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.builder.Builder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.RouteDefinition;
import org.apache.camel.support.DefaultExchange;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The threads on which exchanges go on behind a producer, and which of them wait for Redis. */
class ProducerThreadsIT extends CamelRedisIT {

    private static final int LIMIT = 32;
    private static final String ASYNCHRONOUS = "?delay=1h&synchronous=false";

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final AtomicInteger atATime = new AtomicInteger();
    private final AtomicInteger mostAtATime = new AtomicInteger();
    private final CountDownLatch go = new CountDownLatch(1);
    /** How often each exchange was called back, by its body. */
    private final Map<Integer, AtomicInteger> callbacks = new ConcurrentHashMap<>();

    private final ExecutorService eventLoop = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        go.countDown();
        eventLoop.shutdownNow();
    }

    /** A step that takes its thread until the test lets it go. */
    private void block(Exchange exchange) throws InterruptedException {
        threads.add(Thread.currentThread());
        mostAtATime.accumulateAndGet(atATime.incrementAndGet(), Math::max);
        try {
            go.await();
        } finally {
            atATime.decrementAndGet();
        }
    }

    private void route(String to, Processor behind) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("direct:in").to(to).process(behind);
            }
        });
    }

    private AsyncProducer caller() throws Exception {
        AsyncProducer producer = context.getEndpoint("direct:in").createAsyncProducer();
        producer.start();
        return producer;
    }

    /** Hands exchanges over as an event loop does, which waits for none of them. */
    private void handOver(AsyncProducer producer, int first, int count) {
        for (int i = first; i < first + count; i++) {
            AtomicInteger calls = callbacks.computeIfAbsent(i, number -> new AtomicInteger());
            Exchange exchange = new DefaultExchange(context);
            exchange.getMessage().setBody(i);
            boolean done = producer.process(exchange, doneSync -> {
                assertThat(doneSync).isFalse();
                calls.incrementAndGet();
            });
            assertThat(done).as("exchange %s was done by its caller", i).isFalse();
        }
    }

    private void assertAllDone(int count) {
        await().untilAsserted(() -> assertThat(callbacks.values().stream().filter(calls -> calls.get() > 0))
                .hasSize(count));
        assertThat(callbacks.values()).allSatisfy(calls -> assertThat(calls).hasValue(1));
    }

    @Test
    void should_go_on_on_the_callers_thread() throws Exception {
        List<Thread> used = new CopyOnWriteArrayList<>();
        route(uri + "?delay=1h", exchange -> used.add(Thread.currentThread()));
        for (int i = 0; i < 20; i++) {
            assertThat(send("direct:in", i, Map.of()).isFailed()).isFalse();
        }
        assertThat(used).hasSize(20).containsOnly(Thread.currentThread());
        assertThat(stats().delayed()).isEqualTo(20);
    }

    @Test
    void should_wait_no_longer_on_an_interrupted_thread() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        try (RedisServer server = RedisServer.dedicated();
                RedisSocket paused = RedisSocket.open(server.address())) {
            route(
                    uri + "?delay=1h&requestTimeout=60s&address=" + server.address(),
                    exchange -> steps.incrementAndGet());
            assertThat(send("direct:in", "connects", Map.of()).isFailed()).isFalse();
            assertThat(paused.call("CLIENT PAUSE 60000 WRITE")).isEqualTo("+OK");
            Thread.currentThread().interrupt();
            Exchange sent = send("direct:in", "x", Map.of());
            assertThat(Thread.interrupted()).isTrue();
            assertThat(sent.getException())
                    .isInstanceOf(InterruptedException.class)
                    .hasMessageContaining("queue '" + queue + "'")
                    .hasMessageContaining("may have taken effect");
            assertThat(steps).hasValue(1);
            assertThat(paused.call("CLIENT UNPAUSE")).isEqualTo("+OK");
            await().untilAsserted(() -> assertThat(paused.call("ZCARD redis-delay:{" + queue + "}:delayed"))
                    .isEqualTo(":2"));
        }
    }

    @Test
    void should_take_no_more_threads_than_the_limit() throws Exception {
        route(uri + ASYNCHRONOUS, this::block);
        handOver(caller(), 0, 200);
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(200));
        await().untilAsserted(() -> assertThat(atATime).hasValue(LIMIT));
        go.countDown();
        assertAllDone(200);
        assertThat(mostAtATime).hasValue(LIMIT);
    }

    @Test
    void should_never_go_on_on_an_event_loop_that_has_little_to_do() throws Exception {
        route(uri + ASYNCHRONOUS, exchange -> threads.add(Thread.currentThread()));
        AsyncProducer producer = caller();
        Thread loop = eventLoop.submit(Thread::currentThread).get();
        for (int i = 0; i < 100; i++) {
            int number = i;
            eventLoop.submit(() -> handOver(producer, number, 1)).get();
            assertAllDone(i + 1);
        }
        assertThat(threads).isNotEmpty().doesNotContain(loop);
    }

    @Test
    void should_not_hold_an_event_loop_while_redis_does_not_answer_or_all_threads_are_busy() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                RedisSocket paused = RedisSocket.open(server.address())) {
            String other = uri + ASYNCHRONOUS + "&address=" + server.address() + "&requestTimeout=60s";
            route(other, this::block);
            AsyncProducer producer = caller();
            handOver(producer, 0, 1); // connects
            await().untilAsserted(() -> assertThat(atATime).hasValue(1));

            assertThat(paused.call("CLIENT PAUSE 60000 WRITE")).isEqualTo("+OK");
            Future<?> unanswered = eventLoop.submit(() -> handOver(producer, 1, 500));
            assertThat(unanswered).succeedsWithin(30, TimeUnit.SECONDS);
            assertThat(atATime).hasValue(1);
            assertThat(paused.call("CLIENT UNPAUSE")).isEqualTo("+OK");

            await().untilAsserted(() -> assertThat(atATime).hasValue(LIMIT));
            Future<?> full = eventLoop.submit(() -> handOver(producer, 501, 500));
            assertThat(full).succeedsWithin(30, TimeUnit.SECONDS);
            go.countDown();
            assertAllDone(1001);
            assertThat(threads)
                    .doesNotContain(eventLoop.submit(Thread::currentThread).get());
        }
    }

    @Test
    void should_not_lock_up_when_exchanges_on_all_threads_send_again_and_wait() throws Exception {
        RedisDelayComponent other = new RedisDelayComponent();
        other.getConfiguration().setRedisson(redis.client());
        context.addComponent("other", other);
        CyclicBarrier allBusy = new CyclicBarrier(LIMIT);
        AtomicInteger elsewhere = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("direct:nested").to(uri + ASYNCHRONOUS).process(exchange -> send(exchange, "direct:deeper"));
                from("direct:deeper").to("other:" + queue + ASYNCHRONOUS).process(exchange -> {
                    if (Thread.currentThread() != exchange.getProperty("thread")) {
                        elsewhere.incrementAndGet();
                    }
                });
            }
        });
        route(uri + ASYNCHRONOUS, exchange -> {
            allBusy.await(30, TimeUnit.SECONDS);
            exchange.setProperty("thread", Thread.currentThread());
            send(exchange, "direct:nested");
        });
        handOver(caller(), 0, 3 * LIMIT);
        assertAllDone(3 * LIMIT);
        assertThat(elsewhere).hasValue(0);
        assertThat(stats().delayed()).isEqualTo(9 * LIMIT);
    }

    /** The threads wait for exchanges on threads of Camel's, which wait for one of these threads. */
    @Test
    void should_go_on_when_all_threads_wait_for_a_parallel_split_that_sends_again() throws Exception {
        shouldGoOnWhenAllThreadsWaitFor(40, route -> route.split(Builder.body().tokenize(","))
                .parallelProcessing()
                .to(uri + ASYNCHRONOUS)
                .end());
        assertThat(stats().delayed()).isEqualTo(3 * 40);
    }

    @Test
    void should_go_on_when_all_threads_wait_for_a_delayed_exchange_that_sends_again() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:later").delay(100).asyncDelayed().to(uri + ASYNCHRONOUS);
            }
        });
        shouldGoOnWhenAllThreadsWaitFor(60, route -> route.recipientList(Builder.constant("direct:later")));
        assertThat(stats().delayed()).isEqualTo(2 * 60);
    }

    private void shouldGoOnWhenAllThreadsWaitFor(int exchanges, Consumer<RouteDefinition> inner) throws Exception {
        FastClock.of(context);
        CyclicBarrier allBusy = new CyclicBarrier(LIMIT);
        AtomicInteger arrived = new AtomicInteger();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                inner.accept(from("direct:inner"));
            }
        });
        route(uri + ASYNCHRONOUS, exchange -> {
            if (arrived.incrementAndGet() <= LIMIT) {
                allBusy.await(30, TimeUnit.SECONDS);
            }
            Exchange sent =
                    template.send("direct:inner", made -> made.getMessage().setBody("a,b"));
            assertThat(sent.getException()).isNull();
        });
        handOver(caller(), 0, exchanges);
        assertAllDone(exchanges);
    }

    private void send(Exchange exchange, String to) throws Exception {
        Exchange sent = template.send(to, exchange.copy());
        if (sent.getException() != null) {
            throw sent.getException();
        }
    }

    @Test
    void should_complete_an_exchange_whose_message_throws_an_Error() throws Exception {
        route(uri + ASYNCHRONOUS, exchange -> {});
        Exchange exchange = new DefaultExchange(context);
        exchange.setMessage(new DefaultMessage(context) {
            @Override
            public void setHeader(String name, Object value) {
                throw new NoClassDefFoundError("expected by the test");
            }
        });
        CountDownLatch done = new CountDownLatch(1);
        caller().process(exchange, doneSync -> done.countDown());
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(exchange.getException()).hasRootCauseInstanceOf(NoClassDefFoundError.class);
    }

    @Test
    void should_complete_each_exchange_once_when_the_context_stops() throws Exception {
        context.getShutdownStrategy().setTimeout(1);
        context.getExecutorServiceManager().setShutdownAwaitTermination(100);
        route(uri + ASYNCHRONOUS, this::block);
        handOver(caller(), 0, 200);
        await().untilAsserted(() -> assertThat(stats().delayed()).isEqualTo(200));
        await().untilAsserted(() -> assertThat(atATime).hasValue(LIMIT));
        context.stop();
        assertAllDone(200);
    }
}
