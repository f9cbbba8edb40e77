// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;

/** Of a queue whose name nobody uses again nothing stays for ever, and nothing is forgotten that its messages need. */
class IdleQueuesIT extends RealQueueIT {

    private static final int NAMES = 1_000;
    private static final long DAY = Duration.ofDays(1).toMillis();
    private static final QueueLimits FIVE = new QueueLimits(5, true);
    private static final QueueLimits FIVE_WITH_RATE =
            new QueueLimits(5, true, QueueLimits.Rate.of(1, Duration.ofDays(1), 1), null, 0);

    private final String prefix = "idle-" + redis.uniqueQueue();
    private final List<Consumer<String>> uses = List.of(
            this::cancelWithPriority,
            this::rememberAnId,
            this::trimADeadLetter,
            this::purgeADeadLetterOfTheRemembered,
            this::usePartitions,
            this::consumeAndStop,
            this::dieWithAMessage,
            this::pauseNothing,
            this::pauseAndCancel,
            this::pauseAndResume,
            this::pauseDeadLetters,
            this::retryWithPriority,
            this::limitGroupsAndCancelWithPriority);

    private DelayQueueClient users;

    private DelayQueueClient newClient() {
        return DelayQueueClient.create(
                redis.client(),
                ClientOptions.DEFAULTS.withKeyPrefix(prefix).withRequestTimeout(Duration.ofSeconds(10)));
    }

    private Delivery deliver(DelayQueue from, String id, int priority) {
        get(from.schedule(message(id, LONG_AGO, priority)));
        return receive(from);
    }

    private static Delivery receive(DelayQueue from) {
        try (DelayQueueReceiver receiver = from.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            return receiver.receive(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void cancelWithPriority(String name) {
        DelayQueue of = users.queue(name);
        get(of.schedule(message("a", IN_AN_HOUR, 5)));
        get(of.schedule(ScheduleRequest.of("a", bytes("b"), IN_AN_HOUR)
                .withOnDuplicate(DuplicatePolicy.REPLACE)
                .withPriority(7)));
        get(of.cancel("a"));
    }

    private void rememberAnId(String name) {
        get(deliver(users.queue(name), "a", 0).settle(new Settlement.Acknowledge(HOUR)));
        get(deliver(users.queue(name), "b", 0).settle(new Settlement.Acknowledge(Duration.ofMinutes(1))));
    }

    private void trimADeadLetter(String name) {
        get(deliver(users.queue(name), "a", 0).settle(new Settlement.DeadLetter(new byte[0])));
        Awaitility.await().until(() -> get(users.queue(name).admin().trimDeadLetters(Duration.ofMillis(1), 0)) == 1);
    }

    private void purgeADeadLetterOfTheRemembered(String name) {
        DelayQueue of = users.queue(name);
        get(deliver(of, "a", 3).settle(new Settlement.DeadLetter(new byte[0], HOUR)));
        get(of.deadLetters().admin().cancelAll(each -> true, Long.MAX_VALUE));
    }

    private void usePartitions(String name) {
        DelayQueue of = users.queue(name, 3);
        get(of.schedule(message("a", IN_AN_HOUR, 1)));
        get(deliver(of, "b", 0).settle(Settlement.ACKNOWLEDGE));
        get(of.cancel("a"));
    }

    private void consumeAndStop(String name) {
        get(users.usePartitions(name, 1));
        DelayQueueConsumer consumer = users.queue(name).consume(ConsumerOptions.DEFAULTS, executor, delivery -> {});
        consumer.stop(true);
    }

    /** Its only claim is given all that it asks for, and it stays a waiter. */
    private void dieWithAMessage(String name) {
        DelayQueue of = users.queue(name);
        get(of.schedule(message("a", LONG_AGO, 0)));
        QueueKeys keys = QueueKeys.of(prefix, name);
        Object[] arguments = Stream.of(
                        "died",
                        "1",
                        "a claim's 16byte",
                        "30000000",
                        "1",
                        "1",
                        "1000",
                        keys.base(),
                        "c channel",
                        "1",
                        "1")
                .map(RealQueueIT::bytes)
                .toArray();
        get(new RedissonScriptExecutor(redis.client()).call(LuaScript.CLAIM, keys.of(LuaScript.CLAIM), arguments, 1));
        assertThat(redis.client().getScoredSortedSet(keys.key("waiters")).size())
                .isOne();
        get(of.cancel("a"));
    }

    private void pauseNothing(String name) {
        get(users.queue(name).admin().pause());
    }

    private void pauseAndCancel(String name) {
        DelayQueue of = users.queue(name);
        get(of.schedule(message("a", IN_AN_HOUR, 2)));
        get(of.admin().pause());
        get(of.schedule(message("b", IN_AN_HOUR, 0)));
        get(of.cancel("a"));
        get(of.cancel("b"));
    }

    private void pauseAndResume(String name) {
        DelayQueue of = users.queue(name);
        get(of.admin().pause());
        get(of.schedule(message("a", IN_AN_HOUR, 2)));
        get(of.admin().resume());
        get(of.cancel("a"));
    }

    private void pauseDeadLetters(String name) {
        DelayQueue of = users.queue(name);
        get(users.usePartitions(name, 1));
        get(of.deadLetters().admin().pause());
        get(deliver(of, "a", 0).settle(new Settlement.DeadLetter(new byte[0])));
        get(of.deadLetters().admin().cancelAll(each -> true, Long.MAX_VALUE));
    }

    private void retryWithPriority(String name) {
        DelayQueue of = users.queue(name);
        get(deliver(of, "a", 4).settle(new Settlement.Retry(Duration.ZERO, bytes("failed"))));
        get(receive(of).settle(Settlement.ACKNOWLEDGE));
    }

    private void limitGroupsAndCancelWithPriority(String name) {
        get(users.queue(name).admin().limit(FIVE));
        cancelWithPriority(name);
    }

    /** The keys under the prefix, with the time after which Redis removes them, in milliseconds; -1: it does not. */
    private Map<String, Long> left() {
        Map<String, Long> found = new TreeMap<>();
        redis.client().getKeys().getKeys().forEach(key -> {
            if (key.startsWith(prefix + ":")) {
                found.put(key, redis.client().getBucket(key).remainTimeToLive());
            }
        });
        return found;
    }

    @Test
    void should_leave_no_key_for_ever() {
        users = newClient();
        for (int i = 0; i < NAMES; i++) {
            uses.get(i % uses.size()).accept("n" + i);
        }
        users.close();
        Map<String, Long> left = left();
        assertThat(left).isNotEmpty();
        assertThat(left).allSatisfy((key, millis) -> assertThat(millis)
                .as(key)
                .isBetween(1L, key.equals(prefix + ":queues") ? 400 * DAY : 30 * DAY));
    }

    private long configLives(DelayQueue of) {
        String part = of == queue ? "config" : "dead:config";
        return redis.client().getBucket(keys().key(part)).remainTimeToLive();
    }

    @Test
    void should_never_forget_a_pause_while_there_are_messages() {
        get(queue.admin().pause());
        assertThat(configLives(queue)).isBetween(29 * DAY, 30 * DAY);
        schedule("a", IN_AN_HOUR);
        assertThat(configLives(queue)).isEqualTo(-1);
        get(queue.cancel("a"));
        assertThat(configLives(queue)).isBetween(29 * DAY, 30 * DAY);
        schedule("a", LONG_AGO, 3);
        get(queue.admin().resume());
        assertThat(configLives(queue)).isEqualTo(-1);
        List<Delivery> held = List.copyOf(claim(1));
        get(queue.admin().pause());
        assertThat(configLives(queue)).isEqualTo(-1);
        get(queue.deadLetters().admin().pause());
        assertThat(configLives(queue.deadLetters())).isBetween(29 * DAY, 30 * DAY);
        get(held.get(0).settle(new Settlement.DeadLetter(new byte[0])));
        assertThat(configLives(queue.deadLetters())).isEqualTo(-1);
        get(client.usePartitions(queue.name(), 1));
        assertThat(configLives(queue.deadLetters())).isEqualTo(-1);
        assertThat(claim(1)).isEmpty();
        assertThat(configLives(queue)).as("seen by a claim").isBetween(29 * DAY, 30 * DAY);
        get(queue.admin().redriveAll(each -> true, Long.MAX_VALUE));
        assertThat(configLives(queue)).isEqualTo(-1);
    }

    @Test
    void should_never_forget_priorities_while_messages_have_some_also_where_the_limit_of_groups_expires() {
        get(queue.admin().limit(FIVE));
        assertThat(configLives(queue)).isBetween(29 * DAY, 30 * DAY);
        schedule("a", LONG_AGO, 9);
        assertThat(configLives(queue)).as("scheduled").isEqualTo(-1);
        ClaimedDelivery held = claim(1).get(0);
        assertThat(configLives(queue)).as("claimed").isBetween(29 * DAY, 30 * DAY);
        get(held.settle(new Settlement.Retry(HOUR, new byte[0])));
        assertThat(configLives(queue)).as("retried").isEqualTo(-1);
        get(queue.cancel("a"));
        assertThat(configLives(queue)).as("cancelled").isBetween(29 * DAY, 30 * DAY);
    }

    @Test
    void should_renew_the_limit_of_groups_with_the_claims_of_messages_without_one() {
        get(queue.admin().limit(FIVE));
        redis.client().getBucket(keys().key("config")).expire(Duration.ofMinutes(1));
        schedule("a", LONG_AGO);
        assertThat(claim(1)).hasSize(1);
        assertThat(configLives(queue)).isBetween(29 * DAY, 30 * DAY);
    }

    @Test
    void should_forget_the_limit_of_groups_also_after_a_rate_was_removed_but_no_priorities() {
        get(queue.admin().limit(FIVE_WITH_RATE));
        schedule("a", LONG_AGO);
        schedule("b", LONG_AGO);
        assertThat(claim(2)).hasSize(1);
        get(queue.admin().limit(FIVE));
        assertThat(configLives(queue)).as("the rate still counts").isEqualTo(-1);
        pass(Duration.ofDays(2));
        claim(1);
        assertThat(configLives(queue)).as("seen by a claim").isBetween(29 * DAY, 30 * DAY);

        get(queue.admin().limit(FIVE_WITH_RATE));
        schedule("c", LONG_AGO);
        assertThat(claim(1)).hasSize(1);
        get(queue.admin().limit(FIVE));
        pass(Duration.ofDays(2));
        schedule("d", DueTime.after(Duration.ofDays(9)), 3);
        claim(1);
        assertThat(configLives(queue)).as("with a priority").isEqualTo(-1);
    }

    @Test
    void should_renew_the_number_of_partitions_with_each_use_also_after_a_pause() {
        String name = queue.name() + "-3";
        QueueKeys whole = QueueKeys.of(keys().base().substring(0, keys().base().indexOf(":{")), name);
        DelayQueue of = client.queue(name, 3);
        get(of.admin().pause());
        get(of.admin().resume());
        RBucket<Object> config = redis.client().getBucket(whole.key("config"));
        config.expire(Duration.ofMinutes(1));
        get(client.usePartitions(name, 3));
        assertThat(config.remainTimeToLive()).isBetween(29 * DAY, 30 * DAY);
    }

    @Test
    void should_forget_an_id_no_earlier_than_promised() {
        for (Duration period : List.of(Duration.ofDays(3), HOUR)) {
            schedule("a" + period, LONG_AGO);
            get(claim(1).get(0).settle(new Settlement.Acknowledge(period)));
            assertThat(redis.client().getBucket(keys().key("seen")).remainTimeToLive())
                    .isBetween(3 * DAY - 60_000, 3 * DAY + 1_000);
        }
    }
}
