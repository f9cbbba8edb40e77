// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.RealQueueIT;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.QueueFullException;
import io.github.redisdelay.queue.fake.FromNow;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A queue with three partitions does all that one without does. */
@Timeout(60)
class PartitionedQueueIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final int PARTITIONS = 3;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final DueTime IN_AN_HOUR = DueTime.after(HOUR);
    private static final DueTime LONG_AGO = new DueTime(false, 1);

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private DelayQueueClient client;
    private RedisDelayQueue queue;

    @BeforeEach
    void open() {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        queue = (RedisDelayQueue) client.queue(redis.uniqueQueue(), PARTITIONS);
    }

    @AfterEach
    void close() {
        client.close();
        executor.shutdownNow();
    }

    private static <T> T get(Submission<T> sent) {
        return get(sent.result());
    }

    private static <T> T get(CompletableFuture<T> future) {
        return RealQueueIT.get(future);
    }

    private static byte[] body(String id) {
        return ("body of " + id).getBytes(StandardCharsets.UTF_8);
    }

    private ScheduleResult schedule(String id, DueTime due) {
        return get(queue.schedule(ScheduleRequest.of(id, body(id), due)));
    }

    private List<String> scheduleMany(int count, String prefix, DueTime due) {
        List<String> ids = IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
        ids.stream()
                .map(id -> queue.schedule(ScheduleRequest.of(id, body(id), due)))
                .toList()
                .forEach(PartitionedQueueIT::get);
        return ids;
    }

    private static ConsumerOptions concurrent(int consumers) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers).withName("consumer");
    }

    private BlockingQueue<Delivery> consume(DelayQueue from, int consumers) {
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        from.consume(concurrent(consumers), executor, received::add);
        return received;
    }

    private static Delivery next(BlockingQueue<Delivery> received) throws InterruptedException {
        Delivery delivery = received.poll(10, TimeUnit.SECONDS);
        assertThat(delivery).as("a delivery within 10 s").isNotNull();
        return delivery;
    }

    /** Gives up this many messages; answers the ids of the dead letters, the oldest first. */
    private List<String> bury(int count) throws InterruptedException {
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        DelayQueueConsumer consumer = queue.consume(concurrent(1), executor, received::add);
        for (int i = 0; i < count; i++) {
            schedule("dead" + i, LONG_AGO);
            assertThat(get(next(received).settle(new Settlement.DeadLetter(new byte[0]))))
                    .isEqualTo(SettleResult.DONE);
        }
        consumer.stop(false);
        return get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 256)).messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    @Test
    void should_spread_messages_and_deliver_all_of_them() throws Exception {
        Set<String> ids = new HashSet<>(scheduleMany(300, "m", DueTime.now()));
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(300);
        for (Partition partition : queue.partitions()) {
            assertThat(get(new PartitionAdmin(partition).stats()).delayed()).isBetween(50L, 150L);
        }
        BlockingQueue<Delivery> received = consume(queue, 10);
        while (!ids.isEmpty()) {
            Delivery delivery = next(received);
            assertThat(ids.remove(delivery.id())).as(delivery.id()).isTrue();
            assertThat(delivery.body()).isEqualTo(body(delivery.id()));
            assertThat(delivery.queue()).isEqualTo(queue.name());
            assertThat(delivery.isFrom(queue)).isTrue();
            assertThat(delivery.isFrom(queue.deadLetters())).isFalse();
            assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        }
        assertThat(get(queue.admin().stats()).leased()).isZero();
        assertThat(get(queue.admin().stats()).consumers()).isEqualTo(1);
    }

    @Test
    void should_deliver_on_time_in_every_partition() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, 1);
        for (int i = 0; i < 9; i++) {
            ScheduleResult result =
                    get(queue.schedule(ScheduleRequest.of(null, new byte[0], DueTime.after(Duration.ofMillis(20)))));
            Delivery delivery = next(received);
            assertThat(delivery.id()).isEqualTo(result.id()).hasSize(14);
            assertThat(delivery.claimedMicros()).isGreaterThanOrEqualTo(result.dueMicros());
            delivery.settle(Settlement.ACKNOWLEDGE);
        }
    }

    @Test
    void should_find_a_message_by_its_id() {
        for (int i = 0; i < 9; i++) {
            String id = "m" + i;
            schedule(id, IN_AN_HOUR);
            assertThat(get(queue.get(id)).orElseThrow().body()).isEqualTo(body(id));
            assertThatThrownBy(() -> schedule(id, IN_AN_HOUR)).isInstanceOf(DuplicateMessageException.class);
            assertThat(get(queue.reschedule(id, DueTime.after(HOUR.multipliedBy(2))))
                            .previousState())
                    .isEqualTo(MessageState.DELAYED);
            assertThat(get(queue.promote(id)).previousState()).isEqualTo(MessageState.DELAYED);
            assertThat(get(queue.get(id)).orElseThrow().info().dueMicros())
                    .isLessThanOrEqualTo(get(queue.admin().stats()).timeMicros());
            assertThat(get(queue.cancel(id)).previousState()).isEqualTo(MessageState.DELAYED);
            assertThat(get(queue.cancel(id)).previousState()).isEqualTo(MessageState.NONE);
            assertThat(get(queue.get(id))).isEmpty();
        }
    }

    @Test
    void should_supersede_a_delivery_that_schedules_its_message_again() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, 1);
        for (int i = 0; i < 6; i++) {
            String id = "m" + i;
            schedule(id, LONG_AGO);
            Delivery delivery = next(received);
            ScheduleResult again = get(
                    queue.schedule(ScheduleRequest.of(id, body(id), IN_AN_HOUR).superseding(delivery.claimId())));
            assertThat(again.outcome()).isEqualTo(ScheduleOutcome.SUPERSEDED);
            delivery.superseded();
        }
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(6);
    }

    @Test
    void should_keep_the_order_of_two_calls_for_one_id_from_the_very_first_one() {
        DelayQueue fresh = client.queue(redis.uniqueQueue(), PARTITIONS);
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            String id = "m" + i % 10;
            calls.add(fresh.schedule(
                            ScheduleRequest.of(id, body("" + i), IN_AN_HOUR).withOnDuplicate(DuplicatePolicy.REPLACE))
                    .result());
        }
        calls.forEach(RealQueueIT::get);
        for (int i = 90; i < 100; i++) {
            assertThat(get(fresh.get("m" + i % 10)).orElseThrow().body()).isEqualTo(body("" + i));
        }
    }

    @Test
    void should_never_work_on_more_than_it_may_and_leave_no_partition_behind() throws Exception {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Map<Integer, AtomicInteger> finished = new ConcurrentHashMap<>();
        Map<Integer, Integer> whenFirstEnded = new ConcurrentHashMap<>();
        int each = 60;
        Map<Integer, Integer> scheduled = new HashMap<>();
        int number = 0;
        while (scheduled.values().stream().mapToInt(n -> n).sum() < each * PARTITIONS) {
            String id = "m" + number++;
            int partition = PartitionHash.of(id, PARTITIONS);
            if (scheduled.getOrDefault(partition, 0) < each) {
                scheduled.merge(partition, 1, Integer::sum);
                schedule(id, LONG_AGO);
            }
        }
        queue.consume(concurrent(4), executor, delivery -> {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS, executor)
                    .execute(() -> {
                        underWay.decrementAndGet();
                        int partition = PartitionHash.of(delivery.id(), PARTITIONS);
                        int count = finished.computeIfAbsent(partition, p -> new AtomicInteger())
                                .incrementAndGet();
                        if (count == each) {
                            finished.forEach((p, n) -> whenFirstEnded.putIfAbsent(p, n.get()));
                        }
                        delivery.settle(Settlement.ACKNOWLEDGE);
                    });
        });
        await().atMost(Duration.ofSeconds(30))
                .until(() -> finished.size() == PARTITIONS
                        && finished.values().stream().allMatch(n -> n.get() == each));
        assertThat(most.get()).isLessThanOrEqualTo(4);
        assertThat(whenFirstEnded.values())
                .as("how many of each partition were done when the first one was empty: " + whenFirstEnded)
                .allMatch(count -> count >= each / 2);
    }

    @Test
    void should_pause_and_resume_all_partitions() throws Exception {
        assertThat(get(queue.admin().pause())).isTrue();
        assertThat(get(queue.admin().pause())).isFalse();
        assertThat(get(queue.admin().stats()).paused()).isTrue();
        scheduleMany(9, "m", LONG_AGO);
        BlockingQueue<Delivery> received = consume(queue, 9);
        await().until(() -> get(queue.admin().stats()).consumers() == 1);
        assertThat(get(queue.admin().stats()).leased()).isZero();
        assertThat(get(queue.admin().resume())).isTrue();
        assertThat(get(queue.admin().resume())).isFalse();
        for (int i = 0; i < 9; i++) {
            next(received).settle(Settlement.ACKNOWLEDGE);
        }
    }

    @Test
    void should_list_all_messages_in_the_order_of_their_due_times() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String id = "m" + (100 + i);
            ids.add(id);
            // Some at the same time: then by id, in whichever partition they are.
            schedule(id, new DueTime(false, 4_000_000_000_000_000L + i / 5));
        }
        for (int limit : new int[] {1, 7, 50, 256}) {
            List<String> listed = new ArrayList<>();
            String from = null;
            do {
                MessagePage page = get(queue.admin().list(MessageState.DELAYED, PageStart.next(from), limit));
                page.messages().forEach(message -> listed.add(message.id()));
                from = page.next();
            } while (from != null);
            assertThat(listed).as("pages of " + limit).isEqualTo(ids);
            assertThat(all(PageStart.at(4_000_000_000_000_003L), limit)).isEqualTo(ids.subList(15, 50));
            List<String> newest = all(PageStart.newest(), limit);
            Collections.reverse(newest);
            assertThat(newest).as("newest first, pages of " + limit).isEqualTo(ids);
        }
        assertThatThrownBy(() -> queue.admin().list(MessageState.DELAYED, PageStart.next("x"), 10))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.admin().list(MessageState.DELAYED, PageStart.first(), 257))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private List<String> all(PageStart start, int limit) {
        List<String> listed = new ArrayList<>();
        for (PageStart from = start; from != null; ) {
            MessagePage page = get(queue.admin().list(MessageState.DELAYED, from, limit));
            page.messages().forEach(message -> listed.add(message.id()));
            from = page.next() == null ? null : PageStart.next(page.next());
        }
        return listed;
    }

    @Test
    void should_count_what_becomes_due_in_all_partitions() throws Exception {
        for (int i = 0; i < 60; i++) {
            schedule("m" + i, new DueTime(false, 4_000_000_000_000_000L + i / 10));
        }
        Outlook outlook = get(
                queue.admin().outlook(Outlook.bounds(4_000_000_000_000_001L, Duration.of(2, ChronoUnit.MICROS), 2)));
        assertThat(outlook.counts()).containsExactly(20L, 20L);
        assertThat(outlook.before()).isEqualTo(10);
        assertThat(outlook.after()).isEqualTo(10);
        Outlook now = get(FromNow.outlook(queue.admin(), Duration.ofHours(1), 3));
        assertThat(now.after()).isEqualTo(60);
        assertThat(now.timeMicros()).isGreaterThanOrEqualTo(now.boundsMicros().get(0));
        bury(3);
        assertThat(get(queue.deadLetters().admin().outlook(List.of(0L, now.timeMicros(), DueTime.MAX_MICROS)))
                        .counts())
                .containsExactly(0L, 3L);
        assertThatThrownBy(() -> queue.admin().outlook(List.of(1L))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void should_list_what_is_being_delivered_and_by_whom() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, 6);
        scheduleMany(6, "m", LONG_AGO);
        for (int i = 0; i < 6; i++) {
            next(received);
        }
        // Their consumer tells each partition its name by a call of its own.
        await().untilAsserted(() -> {
            List<MessageInfo> leased = get(queue.admin().list(MessageState.LEASED, PageStart.first(), 10))
                    .messages();
            assertThat(leased).hasSize(6).allMatch(message -> message.leaseOwner()
                    .equals("consumer"));
        });
    }

    @Test
    void should_change_all_messages() throws Exception {
        scheduleMany(30, "m", IN_AN_HOUR);
        assertThat(get(queue.admin().promoteAll(message -> message.id().endsWith("5"), Long.MAX_VALUE)))
                .isEqualTo(3);
        assertThat(get(queue.admin().stats()).overdue()).isEqualTo(3);
        assertThat(get(queue.admin().cancelAll(message -> !message.id().endsWith("5"), 20)))
                .isEqualTo(20);
        assertThat(get(queue.admin().cancelAll(message -> !message.id().endsWith("5"), 20)))
                .isEqualTo(7);
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(3);
        assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(3, 0, 0, 0));
    }

    @Test
    void should_see_the_dead_letters_of_all_partitions_as_one_queue() throws Exception {
        List<String> dead = bury(9);
        assertThat(dead).hasSize(9);
        DelayQueue letters = queue.deadLetters();
        assertThat(get(queue.admin().stats()).dead()).isEqualTo(9);
        assertThat(get(letters.admin().stats()).delayed()).isEqualTo(9);
        assertThat(get(letters.get(dead.get(3))).orElseThrow().body()).isEqualTo(body("dead3"));
        for (int i = 0; i < 9; i++) {
            for (String id : List.of("dead" + i, dead.get(i))) {
                assertThat(get(queue.admin().deadLettersOf(id)))
                        .extracting(DeadLetterId::toString)
                        .containsExactly(dead.get(i));
            }
            assertThat(get(queue.cancel("dead" + i)).deadLetterId()).hasToString(dead.get(i));
        }
        assertThat(get(queue.redrive(dead.get(0), null))).isEqualTo(RedriveOutcome.REDRIVEN);
        assertThat(get(queue.get("dead0"))).isPresent();
        assertThat(get(queue.admin().redriveAll(message -> message.id().startsWith("dead1@"), Long.MAX_VALUE)))
                .isEqualTo(1);
        assertThat(get(letters.cancel(dead.get(2))).previousState()).isEqualTo(MessageState.DELAYED);
        BlockingQueue<Delivery> received = consume(letters, 1);
        for (int i = 3; i < 9; i++) {
            Delivery letter = next(received);
            assertThat(letter.isFrom(letters)).isTrue();
            assertThat(get(letter.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        }
        assertThat(get(queue.admin().stats()).dead()).isZero();
        assertThatThrownBy(letters::deadLetters).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> letters.schedule(ScheduleRequest.of(null, new byte[0], IN_AN_HOUR)))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> letters.redrive(dead.get(3), null)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> letters.admin().trimDeadLetters(HOUR, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void should_drop_the_oldest_dead_letters_of_all_partitions() throws Exception {
        List<String> dead = bury(10);
        assertThat(get(queue.admin().trimDeadLetters(HOUR, 10))).isZero();
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 7))).isEqualTo(3);
        assertThat(
                        get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 256))
                                .messages()
                                .stream()
                                .map(MessageInfo::id)
                                .toList())
                .isEqualTo(dead.subList(3, 10));
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofNanos(1000), 0)))
                .isEqualTo(7);
        assertThatThrownBy(() -> queue.admin().trimDeadLetters(Duration.ofSeconds(-1), 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void should_drop_the_oldest_dead_letters_of_groups_wherever_they_are() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, 1);
        for (int i = 0; i < 10; i++) {
            get(queue.schedule(ScheduleRequest.of("m" + i, body("x"), LONG_AGO).withGroup("g" + i % 5)));
            assertThat(get(next(received).settle(new Settlement.DeadLetter(new byte[0]))))
                    .isEqualTo(SettleResult.DONE);
        }
        assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 7))).isEqualTo(3);
        assertThat(get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 256))
                        .messages())
                .extracting(letter -> DeadLetterId.messageIdOf(letter.id()))
                .containsExactly("m3", "m4", "m5", "m6", "m7", "m8", "m9");
        assertThat(get(queue.admin().trimDeadLetters(Duration.ofNanos(1000), 0)))
                .isEqualTo(7);
    }

    @Test
    void should_run_schedules_in_all_partitions_and_find_a_run_that_was_redriven() throws Exception {
        Schedule seconds = Schedule.every(Duration.ofSeconds(1));
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        DelayQueueConsumer consumer = queue.consume(concurrent(6), executor, received::add);
        Map<String, String> letters = new HashMap<>();
        for (int i = 0; i < 6; i++) {
            ScheduleRequest request = ScheduleRequest.of("s" + i, body("s"), DueTime.after(Duration.ofMillis(1)));
            get(queue.schedule(request.recurring(seconds, 0)));
        }
        while (letters.size() < 6) {
            Delivery run = next(received);
            assertThat(get(run.settle(new Settlement.DeadLetter(new byte[0])))).isEqualTo(SettleResult.DONE);
            letters.put(run.id(), run.deadLetterId().toString());
        }
        consumer.stop(false);
        letters.forEach((id, letter) -> {
            assertThat(get(queue.admin().deadLettersOf(id)))
                    .extracting(DeadLetterId::toString)
                    .containsExactly(letter);
            assertThat(get(queue.redrive(letter, null))).isEqualTo(RedriveOutcome.REDRIVEN);
            assertThat(get(queue.get(letter))).as("the run by its id").isPresent();
            assertThat(get(queue.cancel(letter)).previousState()).isEqualTo(MessageState.DELAYED);
            assertThat(get(queue.get(id)).orElseThrow().info().rule()).isEqualTo("every 1s");
            assertThat(get(queue.cancel(id)).previousState()).isNotEqualTo(MessageState.NONE);
        });
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    @Test
    void should_divide_the_maximum_length_rounded_up() {
        int stored = 0;
        QueueFullException full = null;
        for (int i = 0; i < 60; i++) {
            String id = "m" + i;
            try {
                get(queue.schedule(ScheduleRequest.of(id, body(id), IN_AN_HOUR).withMaximumQueueLength(10)));
                stored++;
            } catch (QueueFullException e) {
                full = e;
            }
        }
        assertThat(stored).isEqualTo(12);
        assertThat(full)
                .hasMessageContaining("partition")
                .hasMessageContaining("has 4 messages")
                .hasMessageContaining("maximumQueueLength allows 4");
    }

    @Test
    void should_deliver_the_highest_priority_of_each_partition_first() throws Exception {
        for (int i = 0; i < 30; i++) {
            String id = "m" + i;
            get(queue.schedule(ScheduleRequest.of(id, body(id), LONG_AGO).withPriority(i % 2)));
        }
        BlockingQueue<Delivery> received = consume(queue, 1);
        Map<Integer, Integer> last = new HashMap<>();
        for (int i = 0; i < 30; i++) {
            Delivery delivery = next(received);
            int partition = PartitionHash.of(delivery.id(), PARTITIONS);
            assertThat(delivery.priority()).isLessThanOrEqualTo(last.getOrDefault(partition, 9));
            last.put(partition, delivery.priority());
            get(delivery.settle(Settlement.ACKNOWLEDGE));
        }
    }

    @Test
    void should_remember_finished_ids() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, 1);
        for (int i = 0; i < 6; i++) {
            String id = "m" + i;
            schedule(id, LONG_AGO);
            get(next(received).settle(new Settlement.Acknowledge(HOUR)));
            assertThatThrownBy(() -> schedule(id, IN_AN_HOUR)).isInstanceOf(DuplicateMessageException.class);
        }
    }

    @Test
    void should_tell_about_the_server() {
        ServerInfo info = get(queue.admin().serverInfo());
        assertThat(info).isEqualTo(get(client.queue("any").admin().serverInfo()));
    }

    @Test
    void should_receive_single_messages_from_all_partitions() throws Exception {
        Set<String> ids = new HashSet<>(scheduleMany(12, "m", DueTime.now()));
        try (DelayQueueReceiver receiver = queue.receiver(concurrent(1), delivery -> {})) {
            while (!ids.isEmpty()) {
                Delivery delivery = receiver.receive(Duration.ZERO);
                assertThat(delivery).as("one of " + ids).isNotNull();
                assertThat(ids.remove(delivery.id())).isTrue();
                assertThat(get(queue.admin().stats()).leased())
                        .as("never more than is returned")
                        .isEqualTo(1);
                assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
            }
            assertThat(receiver.receive(Duration.ZERO)).isNull();
            assertThat(receiver.receive(Duration.ofMillis(50))).isNull();
        }
    }

    @Test
    void should_wake_a_receiver_from_any_partition() throws Exception {
        try (DelayQueueReceiver receiver = queue.receiver(concurrent(1), delivery -> {})) {
            for (int i = 0; i < 6; i++) {
                String id = "m" + i;
                Future<Delivery> received = executor.submit(() -> receiver.receive(null));
                await().until(() -> ClientAccess.consumers(client).wakeups().listening() == PARTITIONS);
                schedule(id, DueTime.after(Duration.ofMillis(100)));
                Delivery delivery = received.get(10, TimeUnit.SECONDS);
                assertThat(delivery.id()).isEqualTo(id);
                delivery.settle(Settlement.ACKNOWLEDGE);
            }
            Future<Delivery> received = executor.submit(() -> receiver.receive(null));
            await().until(() -> ClientAccess.consumers(client).wakeups().listening() == PARTITIONS);
            receiver.close();
            assertThat(received.get(5, TimeUnit.SECONDS)).isNull();
        }
        assertThat(ClientAccess.consumers(client).wakeups().listening()).isZero();
    }

    @Test
    void should_give_each_of_several_receiving_threads_its_own_message() throws Exception {
        try (DelayQueueReceiver receiver = queue.receiver(concurrent(1), delivery -> {})) {
            List<Future<Delivery>> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                all.add(executor.submit(() -> receiver.receive(null)));
            }
            scheduleMany(6, "m", DueTime.after(Duration.ofMillis(100)));
            Set<String> ids = new HashSet<>();
            for (Future<Delivery> each : all) {
                Delivery delivery = each.get(20, TimeUnit.SECONDS);
                ids.add(delivery.id());
                delivery.settle(Settlement.ACKNOWLEDGE);
            }
            assertThat(ids).hasSize(6);
        }
    }

    @Test
    void should_refuse_numbers_and_ids_that_cannot_be() {
        assertThatThrownBy(() -> client.queue("orders", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("partitions is 0: it must be from 1 to 64");
        assertThatThrownBy(() -> client.queue("orders", 65)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.queue("or{ders", 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.cancel("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.redrive("a\n", null)).isInstanceOf(IllegalArgumentException.class);
        assertThat(((RedisDelayQueue) client.queue("orders", 1)).partitions()).hasSize(1);
    }
}
