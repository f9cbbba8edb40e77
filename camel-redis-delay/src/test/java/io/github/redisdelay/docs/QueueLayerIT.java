// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The examples of {@code docs/queue-layer.md}: the queue layer on its own, and beside Camel. */
class QueueLayerIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private ClientOptions options;
    private DelayQueueClient client;
    private DelayQueue payments;

    @BeforeEach
    void open() {
        options = ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix());
        client = DelayQueueClient.create(redis.client(), options);
        payments = client.queue("payments");
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void makeDue() {
        payments.admin().promoteAll(message -> true, Long.MAX_VALUE).join();
    }

    private QueueStats stats() {
        return payments.admin().stats().join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void should_deliver_after_half_an_hour() throws Exception {
        BlockingQueue<String> closed = new LinkedBlockingQueue<>();
        try (PaymentTimeouts timeouts = new PaymentTimeouts(redis.client(), options, closed::add)) {
            timeouts.placed("A-1");
            timeouts.placed("A-2");
            assertThat(stats().nextDueMicros() / 60e6).isBetween(29.0, 30.0);
            timeouts.paid("A-2");
            makeDue();
            assertThat(closed.poll(10, TimeUnit.SECONDS)).isEqualTo("A-1");
        }
        assertThat(stats().delayed() + stats().leased() + stats().dead()).isZero();
        assertThat(closed).isEmpty();
    }

    @Test
    void should_try_five_times_and_bury_then() throws Exception {
        BlockingQueue<String> tries = new LinkedBlockingQueue<>();
        PaymentTimeouts timeouts = new PaymentTimeouts(redis.client(), options, order -> {
            tries.add(order);
            throw new IllegalStateException("database is away");
        });
        try (timeouts) {
            timeouts.placed("A-1");
            for (int attempt = 1; attempt <= 5; attempt++) {
                int expected = attempt;
                makeDue();
                await().until(() -> tries.size() == expected && stats().leased() == 0);
                assertThat(stats().delayed()).isEqualTo(attempt < 5 ? 1 : 0);
            }
        }
        assertThat(stats().dead()).isOne();
        StoredMessage dead = payments.deadLetters()
                .get(payments.admin().deadLettersOf("A-1").join().get(0).toString())
                .join()
                .orElseThrow();
        assertThat(new String(dead.info().lastFailure(), StandardCharsets.UTF_8))
                .contains("database is away");
    }

    @Test
    void should_not_begin_what_was_not_finished_five_times() throws Exception {
        payments.schedule(ScheduleRequest.of("A-1", bytes("A-1"), DueTime.now()))
                .result()
                .join();
        try (DelayQueueReceiver receiver = payments.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            for (int attempt = 1; attempt <= 5; attempt++) {
                receiver.receive(Duration.ofSeconds(10))
                        .settle(new Settlement.Retry(Duration.ZERO, new byte[0]))
                        .result()
                        .join();
            }
        }
        BlockingQueue<String> closed = new LinkedBlockingQueue<>();
        try (PaymentTimeouts timeouts = new PaymentTimeouts(redis.client(), options, closed::add)) {
            await().until(() -> stats().dead() == 1);
        }
        assertThat(closed).isEmpty();
    }

    @Test
    void should_wait_at_the_end_for_what_is_under_way() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        PaymentTimeouts timeouts = new PaymentTimeouts(redis.client(), options, order -> {
            begun.countDown();
            try {
                goOn.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        timeouts.placed("A-1");
        makeDue();
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        ExecutorService closer = Executors.newSingleThreadExecutor();
        Future<?> closing = closer.submit(() -> {
            timeouts.close();
            return null;
        });
        await().until(() -> payments.admin().consumers().join().isEmpty());
        assertThat(closing.isDone()).isFalse();
        goOn.countDown();
        closing.get(10, TimeUnit.SECONDS);
        closer.shutdown();
        assertThat(stats().leased() + stats().delayed()).as("acknowledged").isZero();
    }

    /** The component's own jar brings Camel along; whoever uses the queue layer alone can leave it out. */
    @Test
    void should_need_nothing_of_Camel(@TempDir Path folder) throws Exception {
        String classPath = Arrays.stream(JavaCommand.classPath().split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("camel-")
                        || !Path.of(entry).toString().contains("org" + File.separator + "apache"))
                .collect(Collectors.joining(File.pathSeparator));
        File output = folder.resolve("out").toFile();
        Process process = new ProcessBuilder(
                        JavaCommand.of(List.of(), classPath, WithoutCamel.class, redis.address(), redis.keyPrefix()))
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(output).content().endsWith("closed A-1\n");
    }

    /** A JVM that has no class of Camel's. */
    static final class WithoutCamel {

        private WithoutCamel() {}

        public static void main(String[] arguments) throws Exception {
            try {
                Class.forName("org.apache.camel.CamelContext");
                throw new IllegalStateException("Camel is here");
            } catch (ClassNotFoundException expected) {
                // As it should be.
            }
            Config config = new Config();
            config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            ClientOptions options = ClientOptions.DEFAULTS.withKeyPrefix(arguments[1]);
            BlockingQueue<String> closed = new LinkedBlockingQueue<>();
            try (PaymentTimeouts timeouts = new PaymentTimeouts(redisson, options, closed::add);
                    DelayQueueClient other = DelayQueueClient.create(redisson, options)) {
                timeouts.placed("A-1");
                other.queue("payments")
                        .admin()
                        .promoteAll(message -> true, Long.MAX_VALUE)
                        .join();
                System.out.println("closed " + closed.poll(10, TimeUnit.SECONDS));
            }
            redisson.shutdown();
        }
    }

    private DefaultCamelContext camel(RouteBuilder routes) throws Exception {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        DefaultCamelContext camel = new DefaultCamelContext();
        camel.disableJMX();
        camel.addComponent("redis-delay", component);
        camel.addRoutes(routes);
        camel.start();
        return camel;
    }

    private static RouteBuilder consume(BlockingQueue<Message> received) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:payments")
                        .process(exchange -> received.add(exchange.getMessage().copy()));
            }
        };
    }

    // The blocks of the page.

    static void scheduleForCamel(DelayQueue queue, String json) {
        Envelope envelope = Envelope.of(json, "application/json", Map.of("tenant", "acme"));
        queue.schedule(ScheduleRequest.of("A-1", envelope.encode(), DueTime.after(Duration.ofMinutes(30))))
                .result()
                .join();
    }

    static void receiveFromCamel(Delivery delivery) {
        Envelope envelope = Envelope.decode(delivery.body());
        Object body = envelope.body(); // String, byte[], a number, Boolean or null
        Object tenant = envelope.headers().get("tenant");
        Duration remember = envelope.settings().deduplicationPeriod(); // null if it has none
        Work.done(body, tenant);
        delivery.settle(new Settlement.Acknowledge(remember == null ? Duration.ZERO : remember));
    }

    /** Stands for the reader's work. */
    static final class Work {
        static final BlockingQueue<String> DONE = new LinkedBlockingQueue<>();

        private Work() {}

        static void done(Object body, Object tenant) {
            DONE.add(body + " of " + tenant);
        }
    }

    @Test
    void should_send_to_a_route() throws Exception {
        BlockingQueue<Message> received = new LinkedBlockingQueue<>();
        try (DefaultCamelContext camel = camel(consume(received))) {
            scheduleForCamel(payments, "{}");
            makeDue();
            Message message = received.poll(10, TimeUnit.SECONDS);
            assertThat(message).isNotNull();
            assertThat(message.getBody()).isEqualTo("{}");
            assertThat(message.getHeader(Exchange.CONTENT_TYPE)).isEqualTo("application/json");
            assertThat(message.getHeader("tenant")).isEqualTo("acme");
            assertThat(message.getHeader("CamelRedisDelayMessageId")).isEqualTo("A-1");
            await().until(() -> stats().leased() == 0);
        }
    }

    @Test
    void should_receive_from_a_route() throws Exception {
        RouteBuilder send = new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").to("redis-delay:payments?delay=30m&deduplicationPeriod=1h");
            }
        };
        try (DefaultCamelContext camel = camel(send)) {
            Map<String, Object> headers = Map.of("tenant", "acme", "CamelRedisDelayScheduleId", "A-1");
            camel.createProducerTemplate().sendBodyAndHeaders("direct:in", "{}", headers);
        }
        try (DelayQueueReceiver receiver = payments.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            makeDue();
            receiveFromCamel(receiver.receive(Duration.ofSeconds(10)));
        }
        assertThat(Work.DONE.remove()).isEqualTo("{} of acme");
        await().until(() -> stats().leased() == 0);
        assertThat(payments.schedule(ScheduleRequest.of("A-1", bytes("x"), DueTime.now()))
                        .result()
                        .handle((result, error) -> error)
                        .join())
                .as("remembered")
                .hasMessageContaining("A-1");
    }

    @Test
    void should_bury_plain_bytes_as_unreadable_where_a_route_receives_them() throws Exception {
        BlockingQueue<Message> received = new LinkedBlockingQueue<>();
        try (DefaultCamelContext camel = camel(consume(received))) {
            payments.schedule(ScheduleRequest.of("A-1", bytes("plain"), DueTime.now()))
                    .result()
                    .join();
            await().until(() -> stats().dead() == 1);
        }
        assertThat(received).isEmpty();
        MessageInfo dead = payments.deadLetters()
                .admin()
                .list(MessageState.DELAYED, PageStart.first(), 1)
                .join()
                .messages()
                .get(0);
        assertThat(new String(dead.lastFailure(), StandardCharsets.UTF_8)).contains("\"reason\":\"unreadable\"");
    }
}
