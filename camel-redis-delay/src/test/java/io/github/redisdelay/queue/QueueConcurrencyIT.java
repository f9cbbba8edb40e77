// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScoredSortedSet;
import org.redisson.client.RedisException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** The limit of a queue's leased messages: what claims give, when the next ones come, who is woken, and what a fleet does. */
class QueueConcurrencyIT extends ClockedQueueIT {

    private static final Duration LEASE = Duration.ofSeconds(1);

    private QueueLimits limit(int places) {
        return get(queue.admin().limit(new QueueLimits(1, true, null, null, places)));
    }

    private void scheduleMany(int count) {
        scheduleMany(count, "");
    }

    private List<String> given(ClaimReply reply) {
        return reply.messages().stream().map(ClaimReply.ClaimedMessage::id).toList();
    }

    private ClaimReply leased(int messages, long micros) {
        return claimed(messages, micros, ClaimRequest.NO_BATCH);
    }

    private Partition partition() {
        return ((RedisDelayQueue) queue).partitions().get(0);
    }

    private SettleResult extend(ClaimedDelivery delivery, long micros) {
        return get(partition().extend(delivery, micros));
    }

    /** A consumer that waits: Redis has its promise, and says when it is woken. */
    private void idleConsumer(long comes) {
        RScoredSortedSet<String> waiters =
                redis.client().getScoredSortedSet(keys().key("waiters"), StringCodec.INSTANCE);
        waiters.clear();
        // Nobody hears a wake-up, which a name that begins so does not tell.
        waiters.add(comes, "~idle-0.1 nobody");
    }

    private long promise() {
        return redis.client()
                .getScoredSortedSet(keys().key("waiters"), StringCodec.INSTANCE)
                .getScore("~idle-0.1 nobody")
                .longValue();
    }

    @Test
    void should_lease_no_more_than_the_queue_has_places_and_say_when_the_first_one_is_free() {
        assertThat(limit(3)).isEqualTo(QueueLimits.DEFAULT);
        scheduleMany(6);
        assertThat(leased(2, 50 * SECOND).messages()).hasSize(2);
        setClock(now + SECOND);
        ClaimReply full = leased(5, 20 * SECOND);
        assertThat(full.messages()).hasSize(1);
        assertThat(full.limited()).isTrue();
        assertThat(full.nextDueMicros()).isEqualTo(20 * SECOND);
        assertThat(full.nextExpiryMicros()).isEqualTo(20 * SECOND);
        assertThat(leased(5, SECOND).messages()).isEmpty();
        assertThat(limit(5).queueConcurrency()).isEqualTo(3);
        assertThat(leased(5, SECOND).messages()).hasSize(2);
        assertThat(limit(0).queueConcurrency()).isEqualTo(5);
        assertThat(leased(5, SECOND).messages()).hasSize(1);
        assertThat(config()).isEmpty();
        assertThat(claimed(0).limited()).isFalse();
    }

    @Test
    void should_give_the_place_of_an_expired_lease_to_its_message_first() {
        limit(2);
        scheduleMany(4);
        List<ClaimedDelivery> late = claim(queue, claims, 2, 2);
        setClock(now + 3600 * SECOND);
        ClaimReply again = leased(1, SECOND);
        assertThat(given(again)).containsExactly("000");
        assertThat(again.nextDueMicros()).as("the other one").isZero();
        assertThat(extend(late.get(1), 100 * SECOND)).isEqualTo(SettleResult.DONE);
        assertThat(leased(5, SECOND).messages())
                .as("a late extension keeps its place")
                .isEmpty();
        assertThat(get(late.get(0).settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.STALE_HELD);
        assertThat(get(late.get(1).settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        assertThat(given(leased(5, SECOND))).containsExactly("002");
    }

    @Test
    void should_let_others_wait_where_a_consumer_asks_for_no_expired_lease() {
        limit(1);
        scheduleMany(2);
        assertThat(leased(1, SECOND).messages()).hasSize(1);
        setClock(now + SECOND);
        ClaimRequest fresh =
                new ClaimRequest(FakeHost.randomClaimId(), SECOND, 5, 0, false, 1_900_000, ClaimRequest.NO_BATCH);
        assertThat(get(claims.claim(fresh, new CompletableFuture<>())).messages())
                .isEmpty();
        assertThat(given(leased(5, SECOND))).containsExactly("000");
    }

    @Test
    void should_free_places_first_when_the_limit_was_lowered() {
        scheduleMany(6);
        List<ClaimedDelivery> all = claim(4);
        limit(2);
        for (int left = 4; left > 2; left--) {
            assertThat(claim(5)).isEmpty();
            get(all.get(left - 1).settle(Settlement.ACKNOWLEDGE));
        }
        assertThat(claim(5)).isEmpty();
        get(all.get(0).settle(Settlement.ACKNOWLEDGE));
        assertThat(claim(5)).hasSize(1);
        setClock(now + 3600 * SECOND);
        assertThat(claim(5)).as("both have expired").hasSize(2);
    }

    @Test
    void should_wake_an_idle_consumer_when_a_place_is_left() {
        limit(1);
        scheduleMany(12);
        for (Settlement how : List.of(
                Settlement.ACKNOWLEDGE,
                Settlement.RELEASE,
                new Settlement.Retry(Duration.ofSeconds(5), bytes("failed")),
                new Settlement.DeadLetter(bytes("given up"), Duration.ZERO),
                new Settlement.Drop(Duration.ZERO))) {
            ClaimedDelivery one = claim(1).get(0);
            idleConsumer(now + 100 * SECOND);
            extend(one, 3600 * SECOND);
            assertThat(promise()).as("the queue is full").isEqualTo(now + 100 * SECOND);
            get(one.settle(how));
            assertThat(promise()).as("" + how).isEqualTo(now);
        }
        String cancelled = claim(1).get(0).id();
        idleConsumer(now + 100 * SECOND);
        get(queue.cancel(cancelled));
        assertThat(promise()).as("cancel").isEqualTo(now);
        ClaimedDelivery replaced = claim(1).get(0);
        idleConsumer(now + 100 * SECOND);
        get(queue.schedule(ScheduleRequest.of(replaced.id(), bytes("new"), DueTime.after(Duration.ofHours(1)))
                .superseding(replaced.claimId())));
        assertThat(promise()).as("replace").isEqualTo(now);
        claim(1);
        idleConsumer(now + 100 * SECOND);
        schedule("more", (String) null);
        assertThat(promise()).as("a message that has no place").isEqualTo(now + 100 * SECOND);
        limit(2);
        assertThat(promise()).as("raised").isEqualTo(now);
    }

    @Test
    void should_have_somebody_come_for_a_retry_where_nothing_else_is_delayed() {
        limit(1);
        schedule("a", (String) null);
        ClaimedDelivery one = claim(1).get(0);
        idleConsumer(now + 100 * SECOND);
        get(one.settle(new Settlement.Retry(Duration.ofSeconds(5), bytes("failed"))));
        assertThat(promise()).isEqualTo(now + 5 * SECOND);
    }

    @Test
    void should_show_what_has_no_place_as_parked_and_not_as_overdue() {
        limit(1);
        scheduleMany(3);
        assertThat(figures()).containsExactly(3L, 0L);
        ClaimedDelivery one = claim(1).get(0);
        assertThat(figures()).containsExactly(0L, 2L);
        get(one.settle(Settlement.ACKNOWLEDGE));
        assertThat(figures()).as("a place was left just now").containsExactly(0L, 2L);
        setClock(now + SECOND);
        assertThat(figures()).as("nobody comes").containsExactly(2L, 0L);
        claim(1);
        setClock(now + 3600 * SECOND + SECOND);
        assertThat(figures()).as("a dead consumer's lease has expired").containsExactly(1L, 0L);
        setClock(now - 7200 * SECOND);
        assertThat(figures()).as("the clock was set back").containsExactly(0L, 1L);
    }

    private List<Long> figures() {
        QueueStats stats = get(queue.admin().stats());
        assertThat(stats.oldestOverdueMicros() > 0).isEqualTo(stats.overdue() > 0);
        assertThat(stats.oldestParkedMicros() > 0).isEqualTo(stats.parked() > 0);
        return List.of(stats.overdue(), stats.parked());
    }

    @Test
    void should_give_a_batch_of_as_many_as_have_places() {
        limit(3);
        scheduleMany(7);
        assertThat(claimed(5, 3600 * SECOND, 0).messages()).hasSize(3);
        assertThat(claimed(5, 3600 * SECOND, 0).messages()).isEmpty();
    }

    @Test
    void should_keep_the_limit_beside_groups_priorities_and_a_pause() {
        get(queue.admin().limit(new QueueLimits(1, true, null, null, 2)));
        scheduleMany(3, "g");
        scheduleMany(3, "h");
        scheduleMany(3, "i");
        get(queue.schedule(message("high", LONG_AGO, 9)));
        get(queue.schedule(message("low", LONG_AGO, 1)));
        get(queue.admin().pause());
        assertThat(claim(5)).isEmpty();
        get(queue.admin().resume());
        List<ClaimedDelivery> first = claim(5);
        assertThat(ids(first)).containsExactly("high", "low");
        first.forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<ClaimedDelivery> two = claim(5);
            assertThat(two).hasSizeLessThanOrEqualTo(2);
            two.forEach(each -> get(each.settle(Settlement.ACKNOWLEDGE)));
            order.addAll(ids(two));
        }
        for (String group : List.of("g", "h", "i")) {
            assertThat(order.stream().filter(id -> id.startsWith(group)))
                    .containsExactly(group + "000", group + "001", group + "002");
        }
    }

    @Test
    void should_refuse_a_queue_with_partitions_and_a_negative_number() {
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            DelayQueue parts = other.queue(redis.uniqueQueue(), 3);
            QueueLimits five = new QueueLimits(1, true, null, null, 5);
            assertThatThrownBy(() -> parts.admin().limit(five))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("queueConcurrency is 5: a queue with partitions has limits of its groups only");
            assertThatThrownBy(() -> parts.consume(ConsumerOptions.DEFAULTS.withLimits(five), executor, one -> {}))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> limit(-1))
                .hasMessage("queueConcurrency is -1: it must be 1 or more, or 0 for any number");
    }

    /** What a plain model knows of a message. */
    private static final class Plain {
        final long order;
        long due;
        long expires; // 0: not leased
        int lost; // leases in a row
        ClaimedDelivery delivery;

        Plain(long order, long due) {
            this.order = order;
            this.due = due;
        }
    }

    @Test
    void should_give_what_a_plain_model_gives() {
        long seed = RandomTests.seed("seed");
        Random random = new Random(seed);
        for (int round = 0; round < 12; round++) {
            twice = random.nextBoolean();
            int places = 1 + random.nextInt(5);
            limit(places);
            Map<String, Plain> model = new HashMap<>();
            for (int step = 0; step < 120; step++) {
                String what = "seed " + seed + ", round " + round + ", step " + step;
                switch (random.nextInt(8)) {
                    case 0, 1 -> {
                        String id = "r" + round + "-" + step;
                        long wait = random.nextInt(3) * SECOND;
                        get(queue.schedule(ScheduleRequest.of(
                                id,
                                bytes(id),
                                DueTime.at(
                                        Instant.ofEpochSecond((now + wait) / SECOND, (now + wait) % SECOND * 1000)))));
                        model.put(id, new Plain(step, now + wait));
                    }
                    case 2, 3, 4 -> {
                        int asked = 1 + random.nextInt(4);
                        long lease = (1 + random.nextInt(5)) * SECOND;
                        List<String> expected = plainClaim(model, places, asked);
                        ClaimRequest request = new ClaimRequest(
                                FakeHost.randomClaimId(), lease, asked, asked, false, 1_900_000, ClaimRequest.NO_BATCH);
                        ClaimReply reply = get(claims.claim(request, new CompletableFuture<>()));
                        assertThat(given(reply)).as(what).containsExactlyInAnyOrderElementsOf(expected);
                        for (ClaimReply.ClaimedMessage message : reply.messages()) {
                            Plain plain = model.get(message.id());
                            plain.lost += plain.expires > 0 ? 1 : 0;
                            plain.expires = now + lease;
                            plain.delivery = delivery(message, request, reply);
                        }
                        long valid = model.values().stream()
                                .filter(one -> one.expires > now)
                                .count();
                        assertThat(valid).as(what).isLessThanOrEqualTo(places);
                        assertThat(reply.nextDueMicros()).as(what).isEqualTo(plainNextDue(model, places));
                    }
                    case 5 -> end(model, random);
                    case 6 -> {
                        int raised = 1 + random.nextInt(5);
                        limit(raised);
                        places = raised;
                        // A lowered limit holds for what is claimed from then on. Also what has expired may be
                        // extended.
                        long leased = model.values().stream()
                                .filter(one -> one.expires > 0)
                                .count();
                        if (leased > places) {
                            places = (int) leased;
                            limit(places);
                        }
                    }
                    default -> setClock(now + random.nextInt(2_000_000));
                }
            }
            model.keySet().forEach(id -> get(queue.cancel(id)));
        }
    }

    private ClaimedDelivery delivery(ClaimReply.ClaimedMessage message, ClaimRequest request, ClaimReply reply) {
        FakeTimers timers = new FakeTimers();
        return new ClaimedDelivery(
                partition(),
                message,
                request.claimId(),
                reply.timeMicros(),
                timers.nanoTime(),
                timers.nanoTime(),
                timers,
                (ended, worked) -> {});
    }

    private List<String> plainClaim(Map<String, Plain> model, int places, int asked) {
        int free = places
                - (int) model.values().stream().filter(one -> one.expires > 0).count();
        List<String> given = new ArrayList<>();
        TreeMap<String, Plain> byTime = new TreeMap<>(Comparator.<String>comparingLong(
                        id -> model.get(id).expires > 0 ? model.get(id).expires : model.get(id).due)
                .thenComparing(id -> model.get(id).expires > 0)
                .thenComparing(id -> id));
        byTime.putAll(model);
        int valid =
                (int) model.values().stream().filter(one -> one.expires > now).count();
        for (Map.Entry<String, Plain> each : byTime.entrySet()) {
            boolean leased = each.getValue().expires > 0;
            long time = leased ? each.getValue().expires : each.getValue().due;
            if (time <= now && given.size() < Math.min(asked, places - valid) && (leased || free > 0)) {
                // One that may have killed two consumers comes alone.
                boolean alone = leased && each.getValue().lost >= 1;
                if (!alone || given.isEmpty()) {
                    given.add(each.getKey());
                    free -= leased ? 0 : 1;
                }
                if (alone) {
                    break;
                }
            }
        }
        return given;
    }

    private long plainNextDue(Map<String, Plain> model, int places) {
        long due = model.values().stream()
                .filter(one -> one.expires == 0)
                .mapToLong(one -> one.due)
                .min()
                .orElse(-1);
        List<Long> expiries = model.values().stream()
                .map(one -> one.expires)
                .filter(one -> one > 0)
                .sorted(Comparator.reverseOrder())
                .toList();
        long frees = expiries.size() < places ? 0 : expiries.get(places - 1);
        return due < 0 ? -1 : Math.max(0, Math.max(due, frees) - now);
    }

    private void end(Map<String, Plain> model, Random random) {
        List<String> held = model.keySet().stream()
                .filter(id -> model.get(id).expires > 0)
                .sorted()
                .toList();
        if (held.isEmpty()) {
            return;
        }
        String id = held.get(random.nextInt(held.size()));
        Plain plain = model.get(id);
        switch (random.nextInt(4)) {
            case 0 -> {
                get(queue.cancel(id));
                model.remove(id);
            }
            case 1 -> {
                long lease = (1 + random.nextInt(5)) * SECOND;
                extend(plain.delivery, lease);
                plain.expires = now + lease;
            }
            case 2 -> {
                get(plain.delivery.settle(new Settlement.Retry(Duration.ofSeconds(1), bytes("failed"))));
                plain.due = now + SECOND;
                plain.expires = 0;
                plain.lost = 0;
            }
            default -> {
                get(plain.delivery.settle(Settlement.ACKNOWLEDGE));
                model.remove(id);
            }
        }
    }

    /** A client on the real clock, which can be cut off as if its machine had lost its power. */
    private final class Node implements AutoCloseable {
        private final RedissonScriptExecutor real = new RedissonScriptExecutor(redis.client());
        private final AtomicBoolean cut = new AtomicBoolean();
        private final AtomicInteger held = new AtomicInteger();
        private final DelayQueueClient client = ClientAccess.create(
                redis.client(),
                ClientOptions.DEFAULTS,
                (script, keys, arguments, attempt) ->
                        cut.get() ? new CompletableFuture<>() : real.call(script, keys, arguments, attempt));

        DelayQueueConsumer consume(String name, int places, DeliveryHandler handler) {
            return client.queue(name)
                    .consume(
                            ConsumerOptions.DEFAULTS
                                    .withConcurrentConsumers(4)
                                    .withVisibilityTimeout(LEASE)
                                    .withLimits(new QueueLimits(1, true, null, null, places)),
                            executor,
                            handler);
        }

        void die() {
            cut.set(true);
            redis.client()
                    .getTopic(ClientAccess.consumers(client).wakeups().name(), ByteArrayCodec.INSTANCE)
                    .removeAllListeners();
        }

        @Override
        public void close() {
            client.close();
        }
    }

    @Test
    void should_claim_nothing_before_its_limits_are_set_and_try_until_they_are() {
        AtomicBoolean away = new AtomicBoolean(true);
        RedissonScriptExecutor real = new RedissonScriptExecutor(redis.client());
        AtomicInteger received = new AtomicInteger();
        ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
        String name = redis.uniqueQueue();
        try (DelayQueueClient partly = ClientAccess.create(
                redis.client(),
                ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofMillis(200)),
                (script, keys, arguments, attempt) -> away.get() && script == LuaScript.CHANGE
                        ? CompletableFuture.failedFuture(new java.io.IOException("away"))
                        : real.call(script, keys, arguments, attempt))) {
            DelayQueue there = partly.queue(name);
            get(there.schedule(ScheduleRequest.of("m", bytes("x"), LONG_AGO)));
            DelayQueueConsumer consumer = there.consume(
                    ConsumerOptions.DEFAULTS.withLimits(new QueueLimits(1, true, null, null, 1)),
                    executor,
                    new DeliveryHandler() {
                        @Override
                        public void handle(Delivery delivery) {
                            received.incrementAndGet();
                            delivery.settle(Settlement.ACKNOWLEDGE);
                        }

                        @Override
                        public void limited(QueueLimits before, Throwable error) {
                            told.add(error == null ? "set" : "failed");
                        }

                        @Override
                        public void claimsFailing(Throwable error) {
                            told.add(error == null ? "claims" : "no claims");
                        }
                    });
            await().until(() -> told.size() == 2);
            consumer.suspend();
            consumer.resume();
            assertThat(consumer.failingFor()).isPositive();
            assertThat(get(there.admin().stats()).overdue()).isOne();
            assertThat(received).hasValue(0);
            away.set(false);
            await().until(() -> received.get() == 1);
            assertThat(told).containsExactly("failed", "no claims", "set", "claims");
            Map<String, String> stored = redis.client()
                    .<String, String>getMap(
                            QueueAddress.of(ClientOptions.DEFAULTS.keyPrefix(), name)
                                    .keys()
                                    .key("config"),
                            StringCodec.INSTANCE)
                    .readAllMap();
            assertThat(stored).containsEntry("concurrency", "1");
        }
    }

    @Test
    void should_claim_nothing_while_redis_refuses_its_limits_at_once() {
        RedissonScriptExecutor real = new RedissonScriptExecutor(redis.client());
        AtomicInteger claims = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        try (DelayQueueClient refusing =
                ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, (script, keys, arguments, attempt) -> {
                    if (script == LuaScript.CHANGE) {
                        refused.incrementAndGet();
                        return CompletableFuture.failedFuture(new RedisException("NOPERM no permission"));
                    }
                    claims.addAndGet(script == LuaScript.CLAIM ? 1 : 0);
                    return real.call(script, keys, arguments, attempt);
                })) {
            refusing.queue(redis.uniqueQueue())
                    .consume(
                            ConsumerOptions.DEFAULTS.withLimits(new QueueLimits(1, true, null, null, 1)),
                            executor,
                            new DeliveryHandler() {
                                @Override
                                public void handle(Delivery delivery) {}
                            });
            await().until(() -> refused.get() >= 3);
            assertThat(claims).hasValue(0);
        }
    }

    @Test
    void should_never_work_on_more_than_the_limit_in_a_fleet_and_finish_all() {
        String name = redis.uniqueQueue();
        AtomicInteger working = new AtomicInteger();
        ConcurrentLinkedQueue<Integer> seen = new ConcurrentLinkedQueue<>();
        AtomicInteger finished = new AtomicInteger();
        List<Node> fleet = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                Node node = new Node();
                fleet.add(node);
                node.consume(name, 3, delivery -> {
                    seen.add(working.incrementAndGet());
                    Thread.yield();
                    working.decrementAndGet();
                    get(delivery.settle(Settlement.ACKNOWLEDGE));
                    finished.incrementAndGet();
                });
            }
            DelayQueue shared = fleet.get(0).client.queue(name);
            for (int i = 0; i < 300; i++) {
                get(shared.schedule(ScheduleRequest.of("m" + i, bytes("x"), LONG_AGO)));
            }
            await().atMost(Duration.ofSeconds(30)).until(() -> finished.get() == 300);
            assertThat(seen).hasSize(300).allMatch(count -> count <= 3);
        } finally {
            fleet.forEach(Node::close);
        }
    }

    @Test
    void history_10_should_give_the_places_of_a_killed_consumer_to_one_that_waits_when_its_leases_expire()
            throws Exception {
        String name = redis.uniqueQueue();
        try (Node dies = new Node();
                Node waits = new Node()) {
            DelayQueue shared = waits.client.queue(name);
            for (int i = 0; i < 4; i++) {
                get(shared.schedule(ScheduleRequest.of("m" + i, bytes("x"), LONG_AGO)));
            }
            dies.consume(name, 2, delivery -> dies.held.incrementAndGet());
            await().until(() -> dies.held.get() == 2);
            ConcurrentLinkedQueue<Delivery> received = new ConcurrentLinkedQueue<>();
            waits.consume(name, 2, delivery -> {
                received.add(delivery);
                delivery.settle(Settlement.ACKNOWLEDGE);
            });
            await().until(() -> get(shared.admin().stats()).consumers() == 2);
            assertThat(received).isEmpty();
            dies.die();
            long died = System.nanoTime();
            await().atMost(Duration.ofSeconds(20)).until(() -> received.size() == 4);
            // A lease, extended at a third of it, and some time for a busy machine: less than the turn of a second
            // lease.
            assertThat(Duration.ofNanos(System.nanoTime() - died)).isLessThan(LEASE.multipliedBy(5));
            assertThat(received.stream().filter(one -> one.attempt() == 2)).hasSize(2);
        }
    }
}
