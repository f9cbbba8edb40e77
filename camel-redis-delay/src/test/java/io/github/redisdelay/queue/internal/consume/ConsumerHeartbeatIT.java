// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RealQueueIT;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMap;
import org.redisson.client.codec.ByteArrayCodec;

/** Consumers tell that they are there, so that it can be seen whether anybody listens. */
class ConsumerHeartbeatIT extends RealQueueIT {

    private void awaitConsumers(int count) {
        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(get(queue.admin().stats()).consumers()).isEqualTo(count));
    }

    private static final class Heard implements ConsumerHeartbeat.Listener {
        int known;
        final List<Long> lost = new ArrayList<>();

        @Override
        public void known() {
            known++;
        }

        @Override
        public void lost(long seenMicros) {
            lost.add(seenMicros);
        }
    }

    /** An answer of {@code heartbeat.lua}. */
    private static byte[] answer(long time, boolean lost) {
        return ByteBuffer.allocate(9)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(time)
                .put((byte) (lost ? 1 : 0))
                .array();
    }

    @Test
    void should_count_consumers_that_were_started_and_drop_those_that_were_stopped() {
        assertThat(get(queue.admin().stats()).consumers()).isZero();
        DelayQueueConsumer first = queue.consume(named("one"), executor, delivery -> {});
        awaitConsumers(1);
        DelayQueueConsumer second = queue.consume(named("two"), executor, delivery -> {});
        awaitConsumers(2);
        second.suspend();
        assertThat(get(queue.admin().stats()).consumers()).isEqualTo(2);
        first.stop(true);
        awaitConsumers(1);
        second.stop(false);
        awaitConsumers(0);
        assertThat(held("consumers")).isEmpty();
    }

    @Test
    void should_be_gone_also_where_it_is_stopped_at_once() {
        for (int i = 0; i < 30; i++) {
            get(queue.consume(named("short"), executor, delivery -> {}).stop(true));
            assertThat(held("consumers")).isEmpty();
            assertThat(held("waiters")).isEmpty();
        }
    }

    @Test
    void should_count_consumers_of_dead_letters_there() {
        queue.deadLetters().consume(named("dead"), executor, delivery -> {});
        Awaitility.await().untilAsserted(() -> assertThat(
                        get(queue.deadLetters().admin().stats()).consumers())
                .isEqualTo(1));
        assertThat(get(queue.admin().stats()).consumers()).isZero();
    }

    @Test
    void should_not_count_who_was_not_seen_lately_and_drop_who_was_not_seen_for_a_day() {
        RMap<byte[], byte[]> consumers = redis.client().getMap(keys().key("consumers"), ByteArrayCodec.INSTANCE);
        long now = get(queue.admin().stats()).timeMicros();
        long[] seconds = {10, 135, 145, 3_600, 86_300, 86_500, 1_000_000};
        for (int i = 0; i < seconds.length; i++) {
            ByteBuffer record = ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN);
            record.putDouble(now - seconds[i] * 1_000_000).put((byte) 'x');
            consumers.fastPut(new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) i}, record.array());
        }
        assertThat(get(queue.admin().stats()).consumers()).isEqualTo(2);
        ConsumerHeartbeat heartbeat = new ConsumerHeartbeat(
                arguments -> ClientAccess.calls(client)
                        .once(((RedisDelayQueue) queue).partitions().get(0).address(), LuaScript.HEARTBEAT, arguments),
                ClientAccess.timers(client),
                ConsumerId.next(new Random(1)),
                "here",
                new Heard());
        // A few are looked at in each call, by chance.
        Awaitility.await().untilAsserted(() -> {
            heartbeat.start();
            assertThat(consumers.size()).isEqualTo(6);
        });
        heartbeat.stop();
        assertThat(consumers.remainTimeToLive())
                .isGreaterThan(Duration.ofHours(47).toMillis());
    }

    private static List<String> names(DelayQueue of) {
        return get(of.admin().consumers()).stream().map(ConsumerInfo::name).toList();
    }

    @Test
    void should_tell_who_was_seen_and_not_who_has_stopped() {
        assertThat(get(queue.admin().consumers())).isEmpty();
        long before = get(queue.admin().stats()).timeMicros();
        DelayQueueConsumer first = queue.consume(named("one"), executor, delivery -> {});
        Awaitility.await().untilAsserted(() -> assertThat(names(queue)).containsExactly("one"));
        DelayQueueConsumer second = queue.consume(named("two"), executor, delivery -> {});
        queue.deadLetters().consume(named("dead"), executor, delivery -> {});
        Awaitility.await().untilAsserted(() -> assertThat(names(queue)).containsExactly("two", "one"));
        Awaitility.await()
                .untilAsserted(() -> assertThat(names(queue.deadLetters())).containsExactly("dead"));
        second.suspend();
        long after = get(queue.admin().stats()).timeMicros();
        assertThat(get(queue.admin().consumers()))
                .hasSize(2)
                .allSatisfy(consumer -> assertThat(consumer.lastSeenMicros()).isBetween(before, after));
        assertThat(get(queue.admin().consumers()))
                .extracting(ConsumerInfo::version)
                .containsExactly(ConsumerHeartbeat.VERSION, ConsumerHeartbeat.VERSION);
        first.stop(true);
        Awaitility.await().untilAsserted(() -> assertThat(names(queue)).containsExactly("two"));
        second.stop(false);
        Awaitility.await().untilAsserted(() -> assertThat(names(queue)).isEmpty());
    }

    @Test
    void should_tell_who_was_seen_in_the_last_day_and_nothing_that_is_no_consumer() {
        RMap<byte[], byte[]> consumers = redis.client().getMap(keys().key("consumers"), ByteArrayCodec.INSTANCE);
        long now = get(queue.admin().stats()).timeMicros();
        long[] seconds = {10, 86_300, 86_500, 145, 135};
        for (int i = 0; i < seconds.length; i++) {
            consumers.fastPut(new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) i}, seen(now - seconds[i] * 1e6, "c" + i));
        }
        double[] times = {Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, 0, -1, 1e17};
        for (int i = 0; i < times.length; i++) {
            consumers.fastPut(new byte[] {1, 0, 0, 0, 0, 0, 0, (byte) i}, seen(times[i], "none"));
        }
        consumers.fastPut(bytes("7 bytes"), seen(now, "none"));
        consumers.fastPut(new byte[8], new byte[7]);
        consumers.fastPut(bytes("foreign!"), seen(now - 5_000_000.0, "<ü€😀>"));
        assertThat(get(queue.admin().consumers()))
                .extracting(ConsumerInfo::name, consumer -> (now - consumer.lastSeenMicros()) / 1_000_000)
                .containsExactly(tuple("<ü€😀>", 5L), tuple("c4", 135L), tuple("c3", 145L), tuple("c1", 86_300L));
    }

    private static byte[] seen(double time, String name) {
        byte[] text = bytes(name);
        return ByteBuffer.allocate(Double.BYTES + text.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(time)
                .put(text)
                .array();
    }

    @Test
    void should_tell_each_consumer_of_a_partitioned_queue_once() {
        DelayQueue parts = client.queue(redis.uniqueQueue(), 8);
        parts.consume(named("same"), executor, delivery -> {});
        parts.consume(named("same"), executor, delivery -> {});
        Awaitility.await().untilAsserted(() -> assertThat(names(parts)).containsExactly("same", "same"));
        // Each was found in some partition; the figures are of the one that knows the most.
        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(get(parts.admin().stats()).consumers()).isEqualTo(2));
    }

    @Test
    void should_tell_every_minute_and_once_at_the_end() {
        FakeTimers timers = new FakeTimers();
        List<String> told = new ArrayList<>();
        Heard heard = new Heard();
        List<CompletableFuture<Object>> answers = new ArrayList<>();
        ConsumerHeartbeat heartbeat = new ConsumerHeartbeat(
                arguments -> {
                    assertThat((byte[]) arguments[0]).hasSize(ConsumerId.LENGTH);
                    told.add(text((byte[]) arguments[1]).replace(ConsumerHeartbeat.VERSION + " ", ""));
                    CompletableFuture<Object> answer = new CompletableFuture<>();
                    answers.add(answer);
                    return answer;
                },
                timers,
                ConsumerId.next(new Random(1)),
                "me",
                heard);
        heartbeat.start();
        assertThat(told).containsExactly("me");
        timers.advance(Duration.ofSeconds(59));
        assertThat(told).hasSize(1);
        answers.get(0).completeExceptionally(new IllegalStateException("Redis is away"));
        timers.advance(Duration.ofSeconds(1));
        assertThat(told).containsExactly("me", "me");
        assertThat(heard.known).as("what Redis knows, after a failure").isZero();
        heartbeat.stop();
        assertThat(told).as("told before the answer to what was told before").hasSize(2);
        answers.get(1).complete(answer(7, false));
        assertThat(told).containsExactly("me", "me", "");
        assertThat(heard.known).isOne();
        answers.get(2).complete(answer(8, false));
        assertThat(heard.known).as("when it has stopped").isOne();
        timers.advance(Duration.ofMinutes(5));
        heartbeat.stop();
        heartbeat.start();
        assertThat(told).hasSize(3);
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_say_nothing_where_it_never_began() {
        List<Object[]> told = new ArrayList<>();
        ConsumerHeartbeat heartbeat = new ConsumerHeartbeat(
                arguments -> {
                    told.add(arguments);
                    return CompletableFuture.completedFuture(null);
                },
                new FakeTimers(),
                ConsumerId.next(new Random(1)),
                "",
                new Heard());
        heartbeat.stop();
        heartbeat.start();
        assertThat(told).isEmpty();
    }

    /** Executes the script for a consumer that was last seen so long ago; 0: never. */
    private boolean isLost(String id, long secondsAgo, String... note) {
        long now = get(queue.admin().stats()).timeMicros();
        return heartbeat(id, "name", secondsAgo == 0 ? 0 : now - secondsAgo * 1_000_000, note)[8] != 0;
    }

    private byte[] heartbeat(String id, String name, long seen, String... note) {
        return (byte[]) get(ClientAccess.calls(client)
                .once(
                        ((RedisDelayQueue) queue).partitions().get(0).address(),
                        LuaScript.HEARTBEAT,
                        Stream.concat(
                                        Stream.of(bytes(id), bytes(name), Digits.of(seen)),
                                        Stream.of(note).map(RealQueueIT::bytes))
                                .toArray()));
    }

    @Test
    void should_find_data_lost_only_where_its_entry_is_gone_and_cannot_be_too_old() {
        assertThat(isLost("consumer", 0)).as("the first heartbeat").isFalse();
        assertThat(isLost("consumer", 60)).as("its entry is there").isFalse();
        assertThat(isLost("sleeping", 86_401)).as("seen more than a day ago").isFalse();
        assertThat(get(queue.admin().stats()).lostMicros()).isZero();
        redis.client().getKeys().delete(keys().key("consumers"));
        assertThat(isLost("consumer", 86_000)).isTrue();
        assertThat(isLost("consumer", 86_000))
                .as("also where the answer was lost")
                .isTrue();
        assertThat(isLost("consumer", 86_000, "note")).isFalse();
        QueueStats stats = get(queue.admin().stats());
        assertThat(stats.lostMicros()).isBetween(stats.timeMicros() - 10_000_000, stats.timeMicros());
        assertThat(stats.consumers()).as("the note is no consumer").isOne();
        assertThat(names(queue)).containsExactly("name");
        assertThat(isLost("consumer", 1)).as("told once").isFalse();
    }

    @Test
    void should_not_take_a_heartbeat_that_arrives_after_the_farewell_for_a_loss() {
        isLost("consumer", 0);
        heartbeat("consumer", "", 0);
        isLost("consumer", 5);
        assertThat(get(queue.admin().stats()).lostMicros()).isZero();
        assertThat(held("consumers")).as("consumers that Redis lists").isEmpty();
    }

    @Test
    void should_forget_after_a_day_that_data_was_lost() {
        RMap<byte[], byte[]> consumers = redis.client().getMap(keys().key("consumers"), ByteArrayCodec.INSTANCE);
        long now = get(queue.admin().stats()).timeMicros() / 1_000_000;
        consumers.fastPut(bytes("lost"), seconds(now - 86_000));
        isLost("consumer", 0);
        assertThat(get(queue.admin().stats()).lostMicros()).isEqualTo((now - 86_000) * 1_000_000);
        consumers.fastPut(bytes("lost"), seconds(now - 86_500));
        assertThat(get(queue.admin().stats()).lostMicros()).isZero();
        Awaitility.await().untilAsserted(() -> {
            isLost("consumer", 0);
            assertThat(consumers.readAllKeySet()).hasSize(1);
        });
    }

    private static byte[] seconds(long seconds) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt((int) seconds)
                .array();
    }

    @Test
    void should_say_when_redis_knew_it_last_and_note_a_loss_until_redis_has_answered() {
        Heard heard = new Heard();
        List<String> told = new ArrayList<>();
        List<CompletableFuture<Object>> answers = new ArrayList<>();
        ConsumerHeartbeat heartbeat = new ConsumerHeartbeat(
                arguments -> {
                    told.add(text((byte[]) arguments[2]) + (arguments.length > 3 ? " note" : ""));
                    answers.add(new CompletableFuture<>());
                    return answers.get(answers.size() - 1);
                },
                new FakeTimers(),
                ConsumerId.next(new Random(1)),
                "me",
                heard);
        heartbeat.beat();
        assertThat(told).as("before it has begun").isEmpty();
        heartbeat.start();
        answers.get(0).complete(answer(5, false));
        heartbeat.beat();
        answers.get(1).complete(answer(6, false));
        heartbeat.beat();
        answers.get(2).complete(answer(9, true));
        assertThat(told).containsExactly("0", "5", "6", "6 note");
        answers.get(3).completeExceptionally(new IllegalStateException("Redis is away"));
        heartbeat.beat();
        answers.get(4).complete(answer(11, false));
        heartbeat.beat();
        assertThat(told).containsExactly("0", "5", "6", "6 note", "6 note", "11");
        assertThat(heard.lost).containsExactly(6L);
        assertThat(heard.known).isEqualTo(3);
        heartbeat.stop();
        answers.get(5).complete(answer(12, true));
        assertThat(heard.lost).as("what is found after the stop").containsExactly(6L);
        assertThat(told).hasSize(7);
    }

    @Test
    void should_cut_long_names() {
        assertThat(named("x".repeat(1_000)).name()).hasSize(ConsumerOptions.MAX_NAME_LENGTH);
    }

    @Test
    void should_begin_claim_ids_with_the_consumers_id() {
        ConsumerId id = ConsumerId.next(new Random(5));
        byte[] first = id.nextClaimId(new Random(1)).bytes();
        byte[] second = id.nextClaimId(new Random(2)).bytes();
        assertThat(first).hasSize(16).startsWith(id.bytes()).isNotEqualTo(second);
        assertThat(second).startsWith(id.bytes());
    }
}
