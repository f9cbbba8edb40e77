// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RealQueueIT;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.fake.FromNow;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.test.RedisExtension;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.client.codec.StringCodec;

/** The number of a queue's partitions is recorded once. A client with another number is told so, and changes nothing. */
@Timeout(60)
class PartitionRecordIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final DueTime IN_AN_HOUR = DueTime.after(Duration.ofHours(1));
    private static final ConsumerOptions OPTIONS = ConsumerOptions.DEFAULTS;

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<DelayQueueClient> clients = new ArrayList<>();
    private String name;

    @BeforeEach
    void name() {
        name = redis.uniqueQueue();
    }

    @AfterEach
    void close() {
        clients.forEach(DelayQueueClient::close);
        executor.shutdownNow();
    }

    private DelayQueueClient client() {
        DelayQueueClient client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        clients.add(client);
        return client;
    }

    /** A client whose clock is ahead by as many nanoseconds as this says at any time. */
    private DelayQueueClient client(AtomicLong ahead) {
        ScheduledTimers timers = new ScheduledTimers();
        DelayQueueClient client = ClientAccess.create(
                new RedissonScriptExecutor(redis.client()),
                ClientOptions.DEFAULTS,
                new Timers() {
                    @Override
                    public long nanoTime() {
                        return timers.nanoTime() + ahead.get();
                    }

                    @Override
                    public Timer schedule(long delayNanos, Runnable task) {
                        return timers.schedule(delayNanos, task);
                    }
                },
                new SecureRandom(),
                System::currentTimeMillis,
                redis.client());
        clients.add(client);
        return client;
    }

    /** The queue as a client of its own sees it. */
    private DelayQueue queue(int partitions) {
        return client().queue(name, partitions);
    }

    private static <T> T get(Submission<T> sent) {
        return get(sent.result());
    }

    private static <T> T get(CompletableFuture<T> future) {
        return RealQueueIT.get(future);
    }

    private static ScheduleResult schedule(DelayQueue queue, String id) {
        return get(queue.schedule(ScheduleRequest.of(id, new byte[1], IN_AN_HOUR)));
    }

    private void assertMismatch(CompletableFuture<?> call, int partitions) {
        assertThatThrownBy(() -> get(call))
                .isInstanceOfSatisfying(PartitionMismatchException.class, e -> assertThat(e.getPartitions())
                        .isEqualTo(partitions))
                .hasMessageContaining("queue '" + name + "' has " + partitions + " partition")
                .hasMessageContaining("option 'partitions'")
                .hasMessageContaining(
                        "nothing was changed: set the option to " + partitions + ", or take another queue name")
                .hasMessageContaining("if the queue is empty and unused, remove its record");
    }

    private void assertRefused(DelayQueue queue, int partitions) {
        assertMismatch(
                queue.schedule(ScheduleRequest.of("refused", new byte[1], IN_AN_HOUR))
                        .result(),
                partitions);
        assertMismatch(queue.cancel("a").result(), partitions);
        assertMismatch(queue.reschedule("a", DueTime.now()).result(), partitions);
        assertMismatch(queue.promote("a").result(), partitions);
        assertMismatch(queue.redrive("a@1", null).result(), partitions);
        assertMismatch(queue.admin().pause().result(), partitions);
        assertMismatch(queue.admin().resume().result(), partitions);
        assertMismatch(queue.get("a"), partitions);
        assertMismatch(queue.admin().list(MessageState.DELAYED, PageStart.first(), 1), partitions);
        assertMismatch(queue.admin().stats(), partitions);
        assertMismatch(FromNow.outlook(queue.admin(), Duration.ofHours(1), 1), partitions);
        assertMismatch(queue.admin().check(), partitions);
        assertMismatch(queue.deadLetters().admin().stats(), partitions);
        assertMismatch(queue.deadLetters().get("a@1"), partitions);
    }

    /** All keys but what says how many partitions there are. */
    private List<String> keys() {
        return StreamSupport.stream(redis.client().getKeys().getKeys().spliterator(), false)
                .filter(key -> key.contains("{" + name) && !key.endsWith(":config"))
                .sorted()
                .toList();
    }

    private Map<String, String> config(QueueKeys keys) {
        return redis.client()
                .<String, String>getMap(keys.key("config"), StringCodec.INSTANCE)
                .readAllMap();
    }

    private QueueKeys home() {
        return QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, name);
    }

    /** Removes the record, as an operator does with an empty queue, and as an eviction does at any time. */
    private void removeRecord() {
        redis.client().getKeys().delete(home().key("config"), home().dead().key("config"));
    }

    private void assertRecorded(int partitions) {
        Map<String, String> record = Map.of("partitions", String.valueOf(partitions));
        assertThat(config(home().dead())).isEqualTo(record);
        // A schedule of a single message is cheaper where there is no config.
        assertThat(config(home())).isEqualTo(partitions == 1 ? Map.of() : record);
    }

    private static void assertMessages(int messages, DelayQueue queue) {
        QueueStats stats = get(queue.admin().stats());
        assertThat(stats.delayed() + stats.leased()).isEqualTo(messages);
    }

    @Test
    void should_record_nothing_for_calls_to_a_queue_without_partitions() {
        schedule(queue(1), "a");
        assertThat(config(home())).isEmpty();
    }

    @Test
    void should_record_the_number_when_a_client_begins() {
        get(client().usePartitions(name, 1));
        assertRecorded(1);
        name = redis.uniqueQueue();
        get(client().usePartitions(name, 64));
        assertRecorded(64);
        name = redis.uniqueQueue();
        schedule(queue(3), "a");
        assertRecorded(3);
        schedule(queue(3), "b");
    }

    @Test
    void should_refuse_another_number_than_the_recorded_one() {
        schedule(queue(3), "a");
        List<String> before = keys();
        for (int other : new int[] {1, 2, 6}) {
            assertRefused(queue(other), 3);
            assertMismatch(client().usePartitions(name, other), 3);
        }
        assertThat(keys()).isEqualTo(before);
        assertRecorded(3);
    }

    @Test
    void should_refuse_partitions_where_one_is_recorded() {
        get(client().usePartitions(name, 1));
        assertRefused(queue(3), 1);
        assertThat(keys()).isEmpty();
        assertRecorded(1);
        schedule(queue(1), "a");
    }

    @Test
    void should_keep_the_number_of_an_empty_queue() {
        DelayQueue three = queue(3);
        schedule(three, "a");
        get(three.cancel("a"));
        assertRefused(queue(6), 3);
        assertRefused(queue(1), 3);
        assertRecorded(3);
        schedule(three, "b");
    }

    @Test
    void should_name_both_numbers_and_the_record() {
        schedule(queue(3), "a");
        for (int other : new int[] {1, 6}) {
            assertThatThrownBy(() -> get(client().usePartitions(name, other)))
                    .hasMessageContaining("queue '" + name + "' has 3 partitions, and option 'partitions' is " + other)
                    .hasMessageContaining("the keys " + home().key("config") + " and "
                            + home().dead().key("config"));
            assertThatThrownBy(() -> get(queue(other).cancel("a")))
                    .hasMessageContaining("queue '" + name + "' has 3 partitions, and option 'partitions' is " + other);
        }
    }

    /** A queue without partitions records no number by itself: what it holds says so. */
    @Test
    void should_take_a_queue_for_one_without_partitions_if_it_holds_anything() throws Exception {
        assertOneIfUsed(whole -> schedule(whole, "a"));
        assertOneIfUsed(whole -> get(deliver(whole, "a").settle(new Settlement.Acknowledge(Duration.ofHours(1)))));
        assertOneIfUsed(whole -> get(deliver(whole, "a").settle(new Settlement.DeadLetter(new byte[0]))));
        assertOneIfUsed(whole -> get(whole.admin().pause()));
        assertOneIfUsed(whole -> get(whole.deadLetters().admin().pause()));
    }

    private void assertOneIfUsed(Consumer<DelayQueue> use) {
        name = redis.uniqueQueue();
        DelayQueue whole = queue(1);
        use.accept(whole);
        List<String> before = keys();
        assertRefused(queue(3), 1);
        assertThat(keys()).isEqualTo(before);
        get(client().usePartitions(name, 1));
        schedule(whole, "b");
    }

    private Delivery deliver(DelayQueue queue, String id) {
        get(queue.schedule(ScheduleRequest.of(id, new byte[1], DueTime.now())));
        try (DelayQueueReceiver receiver = queue.receiver(OPTIONS, delivery -> {})) {
            return receiver.receive(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void should_let_one_number_win_when_clients_begin_at_the_same_time() {
        for (int round = 0; round < 25; round++) {
            name = redis.uniqueQueue();
            int begins = round % 3;
            Map<Integer, CompletableFuture<?>> begun = new LinkedHashMap<>();
            for (int i = 0; i < 4; i++) {
                int partitions = List.of(1, 2, 3, 6).get((i + round) % 4);
                DelayQueueClient client = client();
                // A consumer that starts, or a producer, which asks by itself if there are partitions.
                begun.put(
                        partitions,
                        begins == 0 || partitions == 1
                                ? client.usePartitions(name, partitions)
                                : client.queue(name, partitions)
                                        .schedule(ScheduleRequest.of("first", new byte[1], IN_AN_HOUR))
                                        .result());
            }
            List<Integer> won = new ArrayList<>();
            begun.forEach((partitions, answer) -> {
                Throwable error = answer.handle((done, failure) -> failure).join();
                if (error == null) {
                    won.add(partitions);
                } else {
                    assertThat(ErrorText.unwrap(error)).isInstanceOf(PartitionMismatchException.class);
                }
            });
            assertThat(won).as("round %d", round).hasSize(1);
            assertRecorded(won.get(0));
            for (int other : begun.keySet()) {
                if (other != won.get(0)) {
                    assertMismatch(queue(other).admin().stats(), won.get(0));
                }
            }
            schedule(queue(won.get(0)), "m");
        }
    }

    /** A producer of a queue without partitions does not ask: either its message is found, or it is refused. */
    @Test
    void should_never_store_without_partitions_beside_several() {
        for (int round = 0; round < 25; round++) {
            name = redis.uniqueQueue();
            DelayQueue one = queue(1);
            if (round % 2 == 0) {
                // The session's later calls go another way than its first one.
                one.schedule(ScheduleRequest.of("a", new byte[1], IN_AN_HOUR))
                        .result()
                        .join();
                one.cancel("a").result().join();
            }
            Submission<ScheduleResult> whole = one.schedule(ScheduleRequest.of("a", new byte[1], IN_AN_HOUR));
            CompletableFuture<Void> three = client().usePartitions(name, 3);
            boolean stored =
                    whole.result().handle((result, error) -> error == null).join();
            boolean recorded = three.handle((result, error) -> error == null).join();
            assertThat(stored).as("round %d", round).isNotEqualTo(recorded);
            assertRecorded(recorded ? 3 : 1);
        }
    }

    @Test
    void should_let_all_begin_with_the_same_number() {
        List<CompletableFuture<Void>> begun = IntStream.range(0, 8)
                .mapToObj(i -> client().usePartitions(name, 3))
                .toList();
        begun.forEach(PartitionRecordIT::get);
        assertRecorded(3);
    }

    @Test
    void should_say_that_a_delivery_is_stale_where_the_queue_has_partitions_by_now() {
        DelayQueue whole = queue(1);
        Delivery delivery = deliver(whole, "a");
        get(whole.cancel("a"));
        get(client().usePartitions(name, 3));
        assertThat(get(delivery.settle(new Settlement.Retry(Duration.ZERO, new byte[0]))))
                .isEqualTo(SettleResult.STALE_GONE);
    }

    /** The documented way to another number: let the queue run empty, stop its clients, remove the record. */
    @Test
    void should_take_another_number_when_the_record_of_an_empty_queue_was_removed() {
        int before = 0;
        for (int partitions : new int[] {3, 1, 6, 64, 3, 1}) {
            try (DelayQueueClient client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
                if (before > 0) {
                    assertMismatch(client.usePartitions(name, partitions), before);
                    removeRecord();
                }
                get(client.usePartitions(name, partitions));
                DelayQueue queue = client.queue(name, partitions);
                get(deliver(queue, "a").settle(Settlement.ACKNOWLEDGE));
                assertMessages(0, queue);
            }
            before = partitions;
        }
    }

    @Test
    void should_write_a_copy_of_the_record_again_that_was_lost() {
        schedule(queue(3), "a");
        for (QueueKeys keys : List.of(home(), home().dead())) {
            redis.client().getKeys().delete(keys.key("config"));
            assertMismatch(client().usePartitions(name, 6), 3);
            assertRecorded(3);
        }
    }

    /** A client asks again at least every minute while it is used. */
    @Test
    void should_record_the_number_again_when_all_of_the_record_was_lost() {
        AtomicLong ahead = new AtomicLong();
        DelayQueueClient running = client(ahead);
        DelayQueue three = running.queue(name, 3);
        schedule(three, "a");
        removeRecord();
        schedule(three, "b");
        assertThat(config(home())).as("asked a moment ago").isEmpty();
        ahead.addAndGet(Duration.ofMinutes(1).toNanos());
        schedule(three, "c");
        await().untilAsserted(() -> assertRecorded(3));
        assertRefused(queue(1), 3);
        assertMessages(3, queue(3));
    }

    @Test
    void should_lose_no_message_when_the_record_was_lost_and_another_number_was_first() throws Exception {
        AtomicLong ahead = new AtomicLong();
        DelayQueue three = client(ahead).queue(name, 3);
        for (int i = 0; i < 20; i++) {
            get(three.schedule(ScheduleRequest.of("m" + i, new byte[1], DueTime.now())));
        }
        removeRecord();
        DelayQueueClient stray = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        DelayQueue six = stray.queue(name, 6);
        schedule(six, "stray");
        // Within a minute the running clients find out, and stop.
        ahead.addAndGet(Duration.ofMinutes(1).toNanos());
        await().ignoreExceptions()
                .untilAsserted(() -> assertMismatch(three.admin().stats(), 6));
        assertRefused(three, 6);
        get(six.cancel("stray"));
        stray.close();
        removeRecord();
        // The messages are where they were.
        assertMessages(20, three);
        assertRecorded(3);
        Set<String> received = new HashSet<>();
        try (DelayQueueReceiver receiver = three.receiver(OPTIONS, delivery -> {})) {
            while (received.size() < 20) {
                Delivery delivery = receiver.receive(Duration.ofSeconds(10));
                assertThat(received.add(delivery.id())).isTrue();
                get(delivery.settle(Settlement.ACKNOWLEDGE));
            }
        }
        assertMessages(0, three);
    }

    @Test
    void should_keep_a_queue_without_partitions_whose_record_was_lost() {
        get(client().usePartitions(name, 1));
        schedule(queue(1), "a");
        removeRecord();
        assertRefused(queue(3), 1);
        assertRecorded(1);
        assertMessages(1, queue(1));
    }

    @Test
    void should_refuse_a_record_that_nobody_has_written() {
        schedule(queue(3), "a");
        for (String nonsense : List.of("", "0", "x", "3.5", "-1", "100")) {
            redis.client()
                    .<String, String>getMap(home().key("config"), StringCodec.INSTANCE)
                    .put("partitions", nonsense);
            assertThatThrownBy(() -> get(client().usePartitions(name, 3)))
                    .hasMessageContaining("REDISDELAY config: partitions");
        }
        redis.client()
                .<String, String>getMap(home().key("config"), StringCodec.INSTANCE)
                .put("partitions", "99");
        assertMismatch(client().usePartitions(name, 3), 99);
    }

    @Test
    void should_refuse_a_running_client_without_partitions_when_another_has_begun_with_three() throws Exception {
        DelayQueue whole = queue(1);
        schedule(whole, "a");
        get(whole.cancel("a"));
        AtomicReference<Throwable> told = new AtomicReference<>();
        DelayQueue three = queue(3);
        schedule(three, "b");
        assertRefused(whole, 3);
        List<String> before = keys();

        // A consumer says so, and keeps trying.
        DelayQueueConsumer consumer = whole.consume(OPTIONS, executor, new DeliveryHandler() {
            @Override
            public void handle(Delivery delivery) {
                throw new AssertionError(delivery);
            }

            @Override
            public void claimsFailing(Throwable error) {
                told.set(error);
            }
        });
        await().until(() -> told.get() != null);
        assertThat(told.get()).isInstanceOf(PartitionMismatchException.class);
        assertThat(consumer.lastError()).isInstanceOf(PartitionMismatchException.class);
        consumer.stop(false);

        // A caller that asks for one message is told at once, however long it would wait.
        DelayQueueReceiver receiver = whole.receiver(OPTIONS, delivery -> {});
        assertThatThrownBy(() -> receiver.receive(null)).isInstanceOf(PartitionMismatchException.class);
        DelayQueueReceiver other = queue(6).receiver(OPTIONS, delivery -> {});
        assertThatThrownBy(() -> other.receive(null)).isInstanceOf(PartitionMismatchException.class);
        DelayQueueReceiver dead = whole.deadLetters().receiver(OPTIONS, delivery -> {});
        assertThatThrownBy(() -> dead.receive(null)).isInstanceOf(PartitionMismatchException.class);
        await().untilAsserted(() -> assertThat(keys().stream()
                        .filter(key -> !key.endsWith(":consumers"))
                        .toList())
                .isEqualTo(before));
    }

    @Test
    void should_tell_the_consumers_of_a_client_with_another_number() {
        schedule(queue(3), "a");
        AtomicReference<Throwable> told = new AtomicReference<>();
        DelayQueueConsumer consumer = queue(6).consume(OPTIONS, executor, new DeliveryHandler() {
            @Override
            public void handle(Delivery delivery) {
                throw new AssertionError(delivery);
            }

            @Override
            public void claimsFailing(Throwable error) {
                told.set(error);
            }
        });
        await().until(() -> told.get() != null);
        assertThat(told.get()).isInstanceOf(PartitionMismatchException.class).hasMessageContaining("has 3 partitions");
        consumer.stop(false);
    }

    @Test
    void should_receive_from_all_partitions_when_one_has_a_backlog() throws Exception {
        DelayQueue three = queue(3);
        List<String> backlog = IntStream.range(0, 10_000)
                .mapToObj(i -> "m" + i)
                .filter(id -> PartitionHash.of(id, 3) == 0)
                .limit(40)
                .toList();
        String other = IntStream.range(0, 10_000)
                .mapToObj(i -> "o" + i)
                .filter(id -> PartitionHash.of(id, 3) == 2)
                .findFirst()
                .orElseThrow();
        get(three.schedule(ScheduleRequest.of(other, new byte[1], DueTime.now())));
        backlog.forEach(id -> get(three.schedule(ScheduleRequest.of(id, new byte[1], DueTime.now()))));
        List<String> received = new ArrayList<>();
        try (DelayQueueReceiver receiver = three.receiver(OPTIONS, delivery -> {})) {
            for (int i = 0; i < 3; i++) {
                Delivery delivery = receiver.receive(Duration.ZERO);
                received.add(delivery.id());
                get(delivery.settle(Settlement.ACKNOWLEDGE));
            }
        }
        assertThat(received).contains(other);
    }
}
