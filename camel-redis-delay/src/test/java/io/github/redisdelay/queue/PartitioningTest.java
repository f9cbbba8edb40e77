// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.client.codec.StringCodec;

/** All clients of a queue have to agree on its number of partitions; who does not is told, and changes nothing. */
@Timeout(60)
class PartitioningTest {

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

    /** The queue as a client of its own sees it. */
    private DelayQueue queue(int partitions) {
        return client().queue(name, partitions);
    }

    private static <T> T get(CompletableFuture<T> future) {
        return RealQueueTest.get(future);
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
                .hasMessageContaining("set the option to " + partitions + ", or take another queue name");
    }

    private void assertRefused(DelayQueue queue, int partitions) {
        assertMismatch(queue.schedule(ScheduleRequest.of("refused", new byte[1], IN_AN_HOUR)), partitions);
        assertMismatch(queue.cancel("a"), partitions);
        assertMismatch(queue.reschedule("a", DueTime.now()), partitions);
        assertMismatch(queue.promote("a"), partitions);
        assertMismatch(queue.redrive("a@1"), partitions);
        assertMismatch(queue.pause(), partitions);
        assertMismatch(queue.resume(), partitions);
        assertMismatch(queue.get("a"), partitions);
        assertMismatch(queue.browse(MessageState.DELAYED, null, 1), partitions);
        assertMismatch(queue.stats(), partitions);
        assertMismatch(queue.check(), partitions);
        assertMismatch(queue.deadLetters().stats(), partitions);
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

    private QueueKeys keys(int partition, int partitions) {
        return QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, Partitions.tag(name, partition, partitions));
    }

    @Test
    void should_record_nothing_for_a_queue_without_partitions() {
        schedule(queue(1), "a");
        get(client().usePartitions(name, 1));
        assertThat(config(home())).isEmpty();
    }

    @Test
    void should_record_the_number_when_the_queue_is_first_used() {
        schedule(queue(3), "a");
        assertThat(config(home())).containsEntry("partitions", "3").containsEntry("closed", "3");
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
    }

    @Test
    void should_name_the_own_number_and_what_uses_the_queue() {
        schedule(queue(3), "a");
        assertThatThrownBy(() -> get(client().usePartitions(name, 6)))
                .hasMessageContaining("queue '" + name + "' has 3 partitions, and option 'partitions' is 6")
                .hasMessageContaining("Now it has 1 messages");
    }

    @Test
    void should_refuse_partitions_where_a_queue_without_any_is_used() throws Exception {
        DelayQueue whole = queue(1);
        schedule(whole, "a");
        List<String> before = keys();
        assertRefused(queue(3), 1);
        assertThat(keys()).isEqualTo(before);
        get(whole.cancel("a"));

        // Nor where somebody only waits for messages.
        DelayQueueConsumer consumer = whole.consume(OPTIONS, executor, delivery -> {});
        await().until(() -> get(whole.stats()).consumers() == 1);
        assertMismatch(client().usePartitions(name, 3), 1);
        consumer.stop(false);
        await().until(() -> get(whole.stats()).consumers() == 0);
        get(client().usePartitions(name, 3));
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

        // Who asks for one message is told at once, however long he would wait.
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
    void should_refuse_a_running_client_with_partitions_when_the_number_has_changed() {
        DelayQueue three = queue(3);
        schedule(three, "a");
        get(three.cancel("a"));
        DelayQueue six = queue(6);
        schedule(six, "b");
        for (int i = 0; i < 3; i++) {
            assertThat(config(keys(i, 3))).containsEntry("closed", "6");
        }
        assertRefused(three, 6);
        assertRefused(queue(1), 6);
        schedule(six, "c");
        assertThat(get(six.stats()).delayed()).isEqualTo(2);
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
    void should_change_the_number_back_and_forth_while_the_queue_is_empty() {
        for (int partitions : new int[] {3, 1, 6, 2, 3, 64, 3, 1, 1, 6}) {
            DelayQueueClient client = client();
            get(client.usePartitions(name, partitions));
            DelayQueue queue = client.queue(name, partitions);
            schedule(queue, "a");
            assertThat(get(queue.stats()).delayed())
                    .as(partitions + " partitions")
                    .isEqualTo(1);
            assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.DELAYED);
            client.close();
        }
    }

    @Test
    void should_not_change_the_number_while_anything_uses_the_queue() throws Exception {
        DelayQueueClient client = client();
        DelayQueue three = client.queue(name, 3);
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        DelayQueueConsumer consumer = three.consume(OPTIONS, executor, received::add);

        get(three.schedule(ScheduleRequest.of("leased", new byte[1], DueTime.now())));
        Delivery leased = received.poll(10, TimeUnit.SECONDS);
        assertUnchangeable("1 messages, 1 consumers seen in the last 140 s");
        get(leased.acknowledge(Duration.ofHours(1)));
        assertUnchangeable("1 remembered ids, 1 consumers");
        get(three.cancel("leased"));
        get(three.schedule(ScheduleRequest.of("dead", new byte[1], DueTime.now())));
        get(received.poll(10, TimeUnit.SECONDS).bury(new byte[0]));
        assertUnchangeable("1 dead letters");
        consumer.stop(false);
        await().until(() -> get(three.stats()).consumers() == 0);
        get(three.deadLetters().cancelAll(letter -> true));
        get(three.pause());
        assertUnchangeable("a pause");
        get(three.resume());
        get(client().usePartitions(name, 6));
    }

    private void assertUnchangeable(String use) {
        for (int other : new int[] {1, 6}) {
            assertThatThrownBy(() -> get(client().usePartitions(name, other)))
                    .isInstanceOf(PartitionMismatchException.class)
                    .hasMessageContaining(use);
        }
    }

    @Test
    void should_leave_the_number_alone_when_a_client_was_refused_before() {
        DelayQueue three = queue(3);
        schedule(three, "a");
        DelayQueueClient stray = client();
        DelayQueue six = stray.queue(name, 6);
        assertRefused(six, 3);
        get(three.cancel("a"));
        assertRefused(six, 3);
        schedule(three, "b");
        get(three.cancel("b"));
        // Until somebody starts anew.
        get(stray.usePartitions(name, 6));
        schedule(six, "c");
    }

    @Test
    void should_let_one_of_many_win_who_begin_at_the_same_time() {
        get(client().usePartitions(name, 2));
        List<CompletableFuture<Integer>> begun = IntStream.range(0, 12)
                .mapToObj(i -> {
                    int partitions = 3 + i % 3;
                    return client().usePartitions(name, partitions)
                            .handle((done, error) -> error == null ? partitions : 0);
                })
                .toList();
        begun.forEach(PartitioningTest::get);
        String recorded = config(home()).get("partitions");
        DelayQueue queue = queue(Integer.parseInt(recorded));
        for (int i = 0; i < 20; i++) {
            schedule(queue, "m" + i);
        }
        assertThat(get(queue.stats()).delayed()).isEqualTo(20);
        for (int other = 1; other <= 5; other++) {
            if (!recorded.equals(String.valueOf(other))) {
                assertMismatch(queue(other).stats(), Integer.parseInt(recorded));
            }
        }
    }

    @Test
    void should_let_all_begin_who_change_to_the_same_number() {
        get(client().usePartitions(name, 2));
        IntStream.range(0, 8)
                .mapToObj(i -> client().usePartitions(name, 3))
                .toList()
                .forEach(PartitioningTest::get);
    }

    @Test
    void should_go_on_with_the_old_number_when_a_change_was_left_half_done() {
        DelayQueue three = queue(3);
        schedule(three, "a");
        get(three.cancel("a"));
        // Its client died after it had closed two partitions.
        redis.client().getMap(home().key("config"), StringCodec.INSTANCE).putAll(Map.of("turn", "9", "changing", "9"));
        for (int i = 0; i < 2; i++) {
            for (QueueKeys keys : List.of(keys(i, 3), keys(i, 3).dead())) {
                redis.client()
                        .getMap(keys.key("config"), StringCodec.INSTANCE)
                        .putAll(keys.deadLetters() ? Map.of("closed", "6") : Map.of("turn", "9", "closed", "6"));
            }
        }
        // A running client is refused at most once for each partition.
        await().ignoreExceptions().until(() -> get(three.stats()).delayed() == 0);
        for (int i = 0; i < 20; i++) {
            schedule(three, "m" + i);
        }
        assertThat(config(home())).doesNotContainKey("changing");
        schedule(queue(3), "b");
        assertMismatch(queue(6).stats(), 3);
    }

    @Test
    void should_open_nothing_with_a_call_that_was_overtaken() {
        DelayQueueClient client = client();
        get(client.usePartitions(name, 3));
        schedule(client.queue(name, 3), "a");
        get(client.queue(name, 3).cancel("a"));
        get(client().usePartitions(name, 6));
        // An opening of an earlier turn, held up in the network.
        RedisDelayQueue partition = client.partitions(name, 3).get(0);
        byte[] reply = (byte[]) get(client.calls()
                .once(partition.address(), LuaScript.PARTITIONS, new byte[] {'o'}, Lane.ascii(3), Lane.ascii(1), Lane.ascii(0)));
        assertThat(java.nio.ByteBuffer.wrap(reply)
                        .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                        .getDouble())
                .isZero();
        assertMismatch(partition.schedule(ScheduleRequest.of("b", new byte[1], IN_AN_HOUR)), 6);
    }

    @Test
    void should_say_that_a_delivery_is_stale_where_the_number_has_changed() throws Exception {
        DelayQueue three = queue(3);
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        DelayQueueConsumer consumer = three.consume(OPTIONS, executor, received::add);
        get(three.schedule(ScheduleRequest.of("a", new byte[1], DueTime.now())));
        Delivery delivery = received.poll(10, TimeUnit.SECONDS);
        get(three.cancel("a"));
        consumer.stop(true);
        await().until(() -> get(three.stats()).consumers() == 0);
        get(client().usePartitions(name, 6));
        assertThat(get(delivery.negativeAcknowledge(Duration.ZERO, new byte[0])))
                .isEqualTo(Settlement.STALE_GONE);
    }

    @Test
    void should_record_the_number_again_where_Redis_has_forgotten_it() throws Exception {
        DelayQueueClient client = client();
        DelayQueue three = client.queue(name, 3);
        schedule(three, "a");
        redis.client().getKeys().delete(home().key("config"));
        ((PartitionedQueue) three).partitioning().confirm();
        await().untilAsserted(() -> assertThat(config(home())).containsEntry("partitions", "3"));
        assertMismatch(queue(1).stats(), 3);
    }

    @Test
    void should_open_a_partition_that_was_closed_in_a_turn_that_the_server_has_lost() {
        DelayQueue three = queue(3);
        schedule(three, "a");
        get(three.cancel("a"));
        // A change in turn 9 has closed a partition, and a failover has lost where the turn is counted.
        for (QueueKeys keys : List.of(keys(0, 3), keys(0, 3).dead())) {
            redis.client().getMap(keys.key("config"), StringCodec.INSTANCE).putAll(Map.of("turn", "9", "closed", "6"));
        }
        DelayQueue fresh = queue(3);
        assertThat(catchThrowable(() -> get(fresh.stats()))).isInstanceOf(PartitionMismatchException.class);
        assertThat(get(fresh.stats()).delayed()).isZero();
        schedule(fresh, "b");
        assertThat(get(three.stats()).delayed()).isEqualTo(1);
    }

    @Test
    void should_leave_the_number_alone_when_it_was_started_twice_and_refused() {
        DelayQueueClient client = client();
        get(client.usePartitions(name, 3));
        get(client.usePartitions(name, 3)); // a second consumer
        DelayQueue three = client.queue(name, 3);
        DelayQueue six = queue(6);
        schedule(six, "b");
        get(six.cancel("b"));
        for (int i = 0; i < 3; i++) {
            assertThat(catchThrowable(() -> schedule(three, "x"))).hasMessageContaining("6 partitions");
        }
        schedule(six, "c");
    }

    @Test
    void should_receive_from_all_partitions_when_one_has_a_backlog() throws Exception {
        DelayQueue three = queue(3);
        List<String> backlog = IntStream.range(0, 10_000)
                .mapToObj(i -> "m" + i)
                .filter(id -> Partitions.of(id, 3) == 0)
                .limit(40)
                .toList();
        String other = IntStream.range(0, 10_000)
                .mapToObj(i -> "o" + i)
                .filter(id -> Partitions.of(id, 3) == 2)
                .findFirst()
                .orElseThrow();
        get(three.schedule(ScheduleRequest.of(other, new byte[1], DueTime.now())));
        backlog.forEach(id -> get(three.schedule(ScheduleRequest.of(id, new byte[1], DueTime.now()))));
        List<String> received = new ArrayList<>();
        try (DelayQueueReceiver receiver = three.receiver(OPTIONS, delivery -> {})) {
            for (int i = 0; i < 3; i++) {
                Delivery delivery = receiver.receive(Duration.ZERO);
                received.add(delivery.id());
                get(delivery.acknowledge());
            }
        }
        assertThat(received).contains(other);
    }
}
