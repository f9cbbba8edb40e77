// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FromNow;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.testkit.Fuzz;
import io.github.redisdelay.testkit.RandomTests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** Data of others in a queue's keys stops no other message, makes nothing spin, and is no script. */
@Timeout(180)
class HostileDataSecurityIT extends RealQueueIT {

    /** Far more than a consumer needs here, and far fewer than one makes that spins for the tenth of a second. */
    private static final int MANY_CLAIMS = 400;

    private static final List<String> SCORES =
            List.of("-inf", "-1.7e308", "-1", "-0.0", "0.5", "1e-300", "1.5", "9007199254740993", "1e300", "inf");

    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicReference<Throwable> failing = new AtomicReference<>();
    private DelayQueueClient counted;
    private DelayQueue watched;

    @BeforeEach
    void countClaims() {
        counted = TestClients.listening(redis.client(), ClientOptions.DEFAULTS, (script, group, moment) -> {
            if (script.equals("CLAIM") && moment == TestClients.Moment.SENT) {
                claims.incrementAndGet();
            }
        });
        watched = counted.queue(queue.name());
    }

    @AfterEach
    void closeCounted() {
        counted.close();
        assertThat(claims).as("claims").hasValueLessThan(MANY_CLAIMS);
    }

    /** Runs a script of the attacker's. */
    private static Object redis(String script, List<Object> keys, Object... arguments) {
        Object[] bytes = Arrays.stream(arguments)
                .map(argument -> argument instanceof byte[] ? argument : bytes(String.valueOf(argument)))
                .toArray();
        return redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, script, RScript.ReturnType.VALUE, keys, bytes);
    }

    private void write(String command, String key, Object... arguments) {
        redis("return redis.call('" + command + "', KEYS[1], unpack(ARGV))", List.of(keys().key(key)), arguments);
    }

    /** A body as ours are stored. */
    private static byte[] stored(String body) {
        return ByteBuffer.allocate(16 + body.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(1)
                .putDouble(1)
                .put(bytes(body))
                .array();
    }

    /** The members of a set, whatever their scores. */
    private List<String> members(String key) {
        return List.copyOf(redis.client()
                .<String>getScoredSortedSet(keys().key(key), StringCodec.INSTANCE)
                .readAll());
    }

    private void add(Object id, String score) {
        write("HSET", "messages", id, stored("hostile"));
        write("ZADD", "delayed", score, id);
    }

    /** Consumes with a lease short enough to see what comes again, and acknowledges. */
    private Map<String, AtomicInteger> acknowledgeAll(DelayQueue from) {
        Map<String, AtomicInteger> settled = new ConcurrentHashMap<>();
        from.consume(
                ConsumerOptions.DEFAULTS.withConcurrentConsumers(4).withVisibilityTimeout(Duration.ofSeconds(20)),
                executor,
                new DeliveryHandler() {
                    @Override
                    public void handle(Delivery delivery) {
                        delivery.settle(Settlement.ACKNOWLEDGE).result().thenAccept(settlement -> {
                            assertThat(settlement).isEqualTo(SettleResult.DONE);
                            settled.computeIfAbsent(delivery.id(), id -> new AtomicInteger())
                                    .incrementAndGet();
                        });
                    }

                    @Override
                    public void claimsFailing(Throwable error) {
                        if (error != null) {
                            failing.set(error);
                        }
                    }
                });
        return settled;
    }

    private void assertHealthyMessagesPass(Map<String, AtomicInteger> settled) {
        for (int i = 0; i < 3; i++) {
            schedule("healthy-" + i, DueTime.now());
            String id = "healthy-" + i;
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(settled).containsKey(id));
        }
        assertThat(settled.values()).as("deliveries").allSatisfy(count -> assertThat(count)
                .hasValue(1));
    }

    @Test
    void should_take_any_score() {
        for (String score : SCORES) {
            add("at " + score, score);
        }
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);

        assertHealthyMessagesPass(settled);
        Set<String> due = Set.of("at -inf", "at -1.7e308", "at -1", "at -0.0", "at 0.5", "at 1e-300", "at 1.5");
        await().untilAsserted(() -> assertThat(settled).containsKeys(due.toArray(new String[0])));
        assertThat(members("delayed")).containsExactlyInAnyOrder("at 9007199254740993", "at 1e300", "at inf");
        QueueStats stats = get(watched.admin().stats());
        assertThat(stats.delayed()).isEqualTo(3);
        assertThat(stats.oldestOverdueMicros()).isZero();

        // The messages that would never be due can be promoted.
        assertThat(get(watched.admin().promoteAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(3);
        await().untilAsserted(() -> assertThat(settled).hasSize(SCORES.size() + 3));
        assertThat(snapshot().keys().get("messages")).isEmpty();
    }

    @Test
    void should_tell_for_how_long_what_was_due_before_time_began() {
        add("a", "-inf");
        QueueStats stats = get(watched.admin().stats());
        assertThat(stats.overdue()).isOne();
        // It can be turned into other units.
        assertThat(Duration.of(stats.oldestOverdueMicros(), java.time.temporal.ChronoUnit.MICROS)
                        .toNanos())
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 256})
    void should_list_messages_of_any_score_once(int limit) {
        for (String score : SCORES) {
            for (int i = 0; i < 3; i++) {
                add(score + " " + i, score);
            }
        }
        List<String> seen = new ArrayList<>();
        String from = null;
        do {
            MessagePage page = get(watched.admin().list(MessageState.DELAYED, PageStart.next(from), limit));
            page.messages().forEach(message -> seen.add(message.id()));
            from = page.next();
            assertThat(seen).hasSizeLessThanOrEqualTo(3 * SCORES.size());
        } while (from != null);
        assertThat(seen).hasSize(3 * SCORES.size()).doesNotHaveDuplicates();
        List<String> back = new ArrayList<>();
        for (PageStart start = PageStart.newest(); start != null; ) {
            MessagePage page = get(watched.admin().list(MessageState.DELAYED, start, limit));
            page.messages().forEach(message -> back.add(0, message.id()));
            start = page.next() == null ? null : PageStart.next(page.next());
            assertThat(back).hasSizeLessThanOrEqualTo(3 * SCORES.size());
        }
        assertThat(back).isEqualTo(seen);
        Outlook outlook = get(watched.admin().outlook(List.of(0L, 1L, DueTime.MAX_MICROS)));
        assertThat(outlook.before()
                        + outlook.after()
                        + outlook.counts().stream().mapToLong(count -> count).sum())
                .isEqualTo(seen.size());
        assertThat(get(watched.admin().cancelAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(3L * SCORES.size());
    }

    @Test
    void should_claim_again_whatever_the_end_of_a_lease_was_made_to_be() {
        for (String score : SCORES) {
            byte[] id = bytes("at " + score);
            write("HSET", "messages", id, stored("hostile"));
            write("ZADD", "leased", score, id);
        }
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);

        assertHealthyMessagesPass(settled);
        await().untilAsserted(() -> assertThat(settled).hasSize(3 + 7));
        assertThat(members("leased")).containsExactlyInAnyOrder("at 9007199254740993", "at 1e300", "at inf");
        assertThat(get(watched.admin().list(MessageState.LEASED, PageStart.first(), 2))
                        .messages())
                .hasSize(2);
    }

    @Test
    void should_take_any_id() {
        byte[] large = new byte[3_000_000];
        Arrays.fill(large, (byte) 'x');
        List<byte[]> ids = List.of(
                new byte[] {0},
                new byte[] {0, -1, -2, (byte) 0xC0, (byte) 0x80, '\n', 0},
                new byte[40],
                bytes("a\r\nb"),
                bytes("@"),
                bytes("@123"),
                bytes("%d%s%n"),
                bytes("']] redis.call('FLUSHALL') --"),
                bytes("-inf"),
                bytes("nan"),
                large);
        ids.forEach(id -> add(id, "1"));
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);

        assertHealthyMessagesPass(settled);
        await().untilAsserted(() -> assertThat(settled).hasSize(3 + ids.size()));
        assertThat(snapshot().keys().get("messages")).isEmpty();
        assertThat(snapshot().keys().get("state")).isEmpty();
    }

    @Test
    void should_bury_and_redrive_whatever_its_id_is() throws Exception {
        List<byte[]> ids = List.of(bytes("@"), bytes("@123"), bytes("a@"), bytes("%1"), bytes("x@1@2"));
        ids.forEach(id -> add(id, "1"));
        BlockingQueue<Delivery> received = consume(watched, concurrent(5));
        for (int i = 0; i < ids.size(); i++) {
            assertThat(get(next(received).settle(new Settlement.DeadLetter(bytes("failure")))))
                    .isEqualTo(SettleResult.DONE);
        }
        assertThat(get(watched.admin().redriveAll(message -> true, Long.MAX_VALUE)))
                .isEqualTo(ids.size());
        List<String> again = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            Delivery delivery = next(received);
            again.add(delivery.id());
            assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        }
        assertThat(again).containsExactlyInAnyOrder("@", "@123", "a@", "%1", "x@1@2");
    }

    /** No call could finish it, and one that tried would be refused as a whole, with what else was in it. */
    @Test
    void should_drop_a_message_without_an_id() {
        add("", "1");
        write("HSET", "messages", "", stored("without an id"));
        List<String> dropped = new ArrayList<>();
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        watched.consume(concurrent(1), executor, new DeliveryHandler() {
            @Override
            public void handle(Delivery delivery) {
                received.add(delivery);
            }

            @Override
            public void bodyMissing(String messageId) {
                synchronized (dropped) {
                    dropped.add(messageId);
                }
            }
        });
        await().untilAsserted(() -> {
            synchronized (dropped) {
                assertThat(dropped).containsExactly("");
            }
        });
        assertThat(received).isEmpty();
        assertThat(snapshot().keys().get("messages")).isEmpty();
    }

    @Test
    void should_drop_a_message_without_an_id_whose_lease_has_ended_beside_others() {
        write("HSET", "messages", "", stored("without an id"));
        write("ZADD", "leased", "1", "");
        schedule("a", LONG_AGO);
        schedule("b", LONG_AGO, 5);
        // Once more, because calls use this id to try out what they may do.
        write("ZADD", "leased", "1", "");

        assertThat(ids(claim(10))).containsExactly("b", "a");
        assertThat(held("messages")).containsExactlyInAnyOrder("a", "b");
        assertThat(held("leased")).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void should_take_any_state_record() {
        SplittableRandom random = new SplittableRandom(11);
        int count = 300;
        for (int i = 0; i < count; i++) {
            byte[] id = bytes("m" + i);
            byte[] record = Fuzz.bytes(random, 120);
            if (i % 2 == 0) {
                record = Arrays.copyOf(record, 40 + random.nextInt(60));
                record[0] = 1;
                ByteBuffer fields = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
                fields.putInt(4, new int[] {-1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 7}[i / 2 % 5]);
                fields.putDouble(24, new double[] {Double.NaN, Double.POSITIVE_INFINITY, -1, 1e300}[i / 2 % 4]);
                record[1] = (byte) (i % 3); // lost leases: more than one is begun alone
            } else if (record.length > 1) {
                record[1] = 0;
            }
            write("HSET", "messages", id, stored("hostile"));
            write("HSET", "state", id, record);
            write("ZADD", i % 3 == 0 ? "leased" : "delayed", "1", id);
        }
        Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
        Set<String> done = ConcurrentHashMap.newKeySet();
        watched.consume(concurrent(16), executor, delivery -> {
            assertThat(delivery.attempt()).isPositive();
            assertThat(delivery.priority()).isBetween(0, 15);
            int round = attempts.computeIfAbsent(delivery.id(), id -> new AtomicInteger())
                    .incrementAndGet();
            Submission<SettleResult> settling =
                    switch (round) {
                        case 1 -> delivery.settle(new Settlement.Retry(Duration.ZERO, bytes("failed")));
                        case 2 ->
                            delivery.id().endsWith("7")
                                    ? delivery.settle(new Settlement.DeadLetter(new byte[0]))
                                    : delivery.settle(Settlement.ACKNOWLEDGE);
                        default -> throw new AssertionError(delivery + " in round " + round);
                    };
            settling.result().thenAccept(settlement -> {
                assertThat(settlement).isEqualTo(SettleResult.DONE);
                if (round == 2) {
                    done.add(delivery.id());
                }
            });
        });
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(done).hasSize(count));
        assertThat(snapshot().keys().get("messages")).isEmpty();
        assertThat(snapshot().keys().get("state")).isEmpty();
        claims.set(0); // many had to be begun alone
        assertThat(get(watched.deadLetters().admin().stats()).delayed()).isEqualTo(count / 10);
    }

    @Test
    void should_count_no_attempt_over_the_edge() {
        byte[] record = new byte[40];
        record[0] = 1;
        ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN).putInt(4, -1);
        add("a", "1");
        write("HSET", "state", "a", record);
        List<ClaimedDelivery> claimed = claim(1);
        assertThat(claimed.get(0).attempt()).isEqualTo(Integer.MAX_VALUE);
        get(claimed.get(0).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        assertThat(claim(1).get(0).attempt()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void should_take_or_drop_any_body() {
        for (int length = 0; length <= 17; length++) {
            byte[] body = new byte[length];
            Arrays.fill(body, (byte) 0xFF);
            write("HSET", "messages", "length " + length, body);
            write("ZADD", "delayed", "1", "length " + length);
        }
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);
        assertHealthyMessagesPass(settled);
        // The empty one counts as none.
        await().untilAsserted(() -> assertThat(settled).hasSize(3 + 17).doesNotContainKey("length 0"));
        assertThat(snapshot().keys().get("messages")).isEmpty();
    }

    /** A body has two times before it; a claim, a check and a redrive take the second one from there. */
    @Test
    void should_take_any_times_of_a_body() {
        double[] times = {
            Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -1, -0.0, 0.5, 1e300, 9007199254740993d
        };
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < times.length; i++) {
            byte[] body = Arrays.copyOf(stored("hostile"), 20);
            ByteBuffer.wrap(body)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(0, times[i])
                    .putDouble(8, times[i]);
            for (String set : List.of("delayed", "leased", "")) {
                String id = set + i;
                ids.add(id);
                write("HSET", "messages", id, body);
                if (!set.isEmpty()) {
                    write("ZADD", set, "1", id);
                }
            }
        }
        assertThat(get(queue.admin().check()).restored()).isEqualTo(times.length);
        Map<String, AtomicInteger> rounds = new ConcurrentHashMap<>();
        Set<String> done = ConcurrentHashMap.newKeySet();
        watched.consume(concurrent(4), executor, delivery -> {
            int round = rounds.computeIfAbsent(delivery.id(), id -> new AtomicInteger())
                    .incrementAndGet();
            Submission<SettleResult> settling =
                    switch (round) {
                        case 1 -> delivery.settle(new Settlement.Retry(Duration.ZERO, bytes("failed")));
                        case 2 -> delivery.settle(Settlement.RELEASE);
                        case 3 -> delivery.settle(new Settlement.DeadLetter(bytes("dead")));
                        default -> delivery.settle(Settlement.ACKNOWLEDGE);
                    };
            settling.result().thenAccept(settlement -> {
                assertThat(settlement).isEqualTo(SettleResult.DONE);
                if (round == 4) {
                    done.add(delivery.id());
                }
            });
        });
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            get(queue.admin().redriveAll(message -> true, Long.MAX_VALUE));
            assertThat(done).containsExactlyInAnyOrderElementsOf(ids);
        });
        assertThat(snapshot().keys().get("messages")).isEmpty();
        assertThat(snapshot().keys().get("state")).isEmpty();
    }

    @Test
    void should_go_on_whatever_became_of_the_records_of_its_calls() {
        schedule("first", DueTime.now());
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);
        await().untilAsserted(() -> assertThat(settled).containsKey("first"));
        List<byte[]> records = new ArrayList<>(List.of(new byte[0], new byte[] {1}, new byte[15], new byte[16]));
        for (double sequence : new double[] {
            Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -1, 0, 1e300, 9007199254740993d
        }) {
            records.add(ByteBuffer.allocate(30)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(sequence)
                    .putDouble(Double.NaN)
                    .array());
        }
        for (int i = 0; i < records.size(); i++) {
            redis(
                    "for _, session in ipairs(redis.call('HKEYS', KEYS[1])) do redis.call('HSET', KEYS[1], session, ARGV[1]) end",
                    List.of(keys().key("sessions")),
                    records.get(i));
            String id = "after " + i;
            get(watched.schedule(message(id, DueTime.now(), 0)));
            await().atMost(Duration.ofSeconds(40))
                    .untilAsserted(() -> assertThat(settled).containsKey(id));
        }
    }

    @Test
    void should_wait_and_tell_while_the_configuration_is_none() {
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);
        assertHealthyMessagesPass(settled);
        write("HSET", "config", "priorities", "\u0000x99");
        schedulePast("a");
        await().untilAsserted(() -> assertThat(failing.get()).hasMessageContaining("config: priorities"));
        write("HDEL", "config", "priorities");
        await().atMost(Duration.ofSeconds(40))
                .untilAsserted(() -> assertThat(settled).containsKey("a"));
    }

    /** As another client does that does not look at the configuration. */
    private void schedulePast(String id) {
        add(id, "1");
        redis(
                "return redis.call('PUBLISH', ARGV[1], '1 0 ' .. ARGV[2])",
                List.of(keys().key("messages")),
                ClientAccess.consumers(counted).wakeups().name(),
                keys().base());
    }

    @Test
    void should_stand_any_wake_up_and_any_idle_consumer() {
        Map<String, AtomicInteger> settled = acknowledgeAll(watched);
        assertHealthyMessagesPass(settled);
        for (Object message : List.of(
                new byte[] {0, -1, ' '},
                "",
                " ",
                "x",
                "1e9 " + keys().base(),
                "-5 " + keys().base(),
                "99999999999999999999 " + keys().base(),
                "inf " + keys().base(),
                "echo ",
                "echo x")) {
            redis(
                    "return redis.call('PUBLISH', ARGV[1], ARGV[2])",
                    List.of(keys().key("messages")),
                    ClientAccess.consumers(counted).wakeups().name(),
                    message);
        }
        for (String score : List.of("-inf", "-1", "0.5", "1e300", "inf")) {
            for (Object member :
                    List.of("", "x", " ", "~ ", "a b c", new byte[] {0, ' ', -1}, "~x " + "y".repeat(9999))) {
                write("ZADD", "waiters", score, member);
            }
        }
        write("HSET", "consumers", "", "", "x", new byte[] {1}, new byte[] {-1, 0}, new byte[30]);
        get(watched.schedule(message("after", DueTime.now(), 0)));
        await().atMost(Duration.ofSeconds(40))
                .untilAsserted(() -> assertThat(settled).containsKey("after"));
        assertThat(get(watched.admin().stats()).consumers()).isGreaterThanOrEqualTo(0);
    }

    /** Everything at once, at random; what is ours passes. */
    @Test
    void should_deliver_what_is_ours_between_any_garbage() {
        int rounds = Integer.getInteger("fuzz.inputs", 200) / 40;
        for (int round = 0; round < Math.max(1, Math.min(rounds, 200)); round++) {
            RandomGenerator random = new SplittableRandom(RandomTests.seed("fuzz.seed") + round);
            DelayQueue own = counted.queue(redis.uniqueQueue());
            QueueKeys ownKeys =
                    ((RedisDelayQueue) own).partitions().get(0).address().keys();
            for (int i = 0; i < 40; i++) {
                byte[] id = random.nextInt(3) == 0 ? bytes("own" + random.nextInt(20)) : Fuzz.bytes(random, 20);
                String score = random.nextBoolean()
                        ? SCORES.get(random.nextInt(SCORES.size()))
                        : String.valueOf(random.nextLong(4_000_000_000_000_000L));
                for (String key : List.of("messages", "state", "delayed", "leased", "seen")) {
                    if (random.nextInt(3) > 0) {
                        boolean hash = key.equals("messages") || key.equals("state");
                        redis(
                                "return redis.call('" + (hash ? "HSET" : "ZADD") + "', KEYS[1], ARGV[1], ARGV[2])",
                                List.of(ownKeys.key(key)),
                                hash ? id : score,
                                hash ? Fuzz.bytes(random, 80) : id);
                    }
                }
            }
            Map<String, AtomicInteger> settled = new HashMap<>();
            DelayQueueConsumer consumer =
                    own.consume(concurrent(8), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE)
                            .result()
                            .thenAccept(settlement -> {
                                synchronized (settled) {
                                    settled.computeIfAbsent(delivery.id(), id -> new AtomicInteger())
                                            .incrementAndGet();
                                }
                            }));
            for (int i = 0; i < 10; i++) {
                get(own.schedule(ScheduleRequest.of("healthy " + i, bytes("x"), DueTime.now())
                        .withOnDuplicate(DuplicatePolicy.REPLACE)));
            }
            int seed = round;
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
                synchronized (settled) {
                    for (int i = 0; i < 10; i++) {
                        assertThat(settled).as("round " + seed).containsKey("healthy " + i);
                    }
                }
            });
            get(own.admin().stats());
            get(own.admin().list(MessageState.DELAYED, PageStart.first(), 256));
            get(own.admin().list(MessageState.LEASED, PageStart.first(), 256));
            get(own.admin().list(MessageState.DELAYED, PageStart.newest(), 256));
            get(FromNow.outlook(own.admin(), Duration.ofMinutes(1), 60));
            get(own.admin().promoteAll(message -> true, Long.MAX_VALUE));
            get(own.admin().cancelAll(message -> true, Long.MAX_VALUE));
            consumer.stop(false);
            assertThat(claims.getAndSet(0)).as("claims of round " + round).isLessThan(MANY_CLAIMS);
        }
    }

    // A script's arguments never become a part of it.

    private static final List<String> CODE = List.of(
            "'",
            "\"",
            "]]",
            "\\",
            "--",
            "') redis.call('SET','redis-delay-pwned','1') --",
            "]] redis.call('SET','redis-delay-pwned','1') --[[",
            "\\'..redis.call('SET','redis-delay-pwned','1')..\\'",
            "KEYS[1]",
            "%s%d%0");

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void should_never_execute_what_it_is_given(int which) {
        String code = CODE.get(which);
        String[] parts = {redis.uniqueQueue() + code, code};
        ClientOptions options = ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix() + code);
        try (DelayQueueClient client = DelayQueueClient.create(redis.client(), options)) {
            DelayQueue named = client.queue(parts[0]);
            get(named.schedule(ScheduleRequest.of(code, bytes(code), DueTime.now())
                    .withOnDuplicate(DuplicatePolicy.REPLACE)
                    .withPriority(3)
                    .withMaximumQueueLength(9)));
            BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
            named.consume(named(code), executor, received::add);
            await().until(() -> !received.isEmpty());
            Delivery delivery = received.poll();
            assertThat(delivery.id()).isEqualTo(code);
            assertThat(text(delivery.body())).isEqualTo(code);
            await().untilAsserted(() -> assertThat(
                            get(named.get(code)).orElseThrow().info().leaseOwner())
                    .isEqualTo(code));
            assertThat(get(delivery.settle(new Settlement.DeadLetter(bytes(code), HOUR))))
                    .isEqualTo(SettleResult.DONE);
            assertThat(get(named.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 1))
                            .messages()
                            .get(0)
                            .lastFailure())
                    .isEqualTo(bytes(code));
            assertThat(get(named.admin().redriveAll(message -> true, Long.MAX_VALUE)))
                    .isOne();
            await().until(() -> !received.isEmpty());
            assertThat(get(received.poll().settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
            get(named.schedule(
                    ScheduleRequest.of(code, bytes(code), IN_AN_HOUR).withOnDuplicate(DuplicatePolicy.REPLACE)));
            assertThat(get(named.reschedule(code, IN_AN_HOUR)).previousState()).isEqualTo(MessageState.DELAYED);
            assertThat(get(named.cancel(code)).previousState()).isEqualTo(MessageState.DELAYED);
            get(named.admin().pause());
            get(named.admin().resume());
        }
        assertThat(redis.client()
                        .getBucket("redis-delay-pwned", StringCodec.INSTANCE)
                        .isExists())
                .isFalse();
        redis.client().getKeys().deleteByPattern(redis.keyPrefix() + "*");
    }

    /** No script is made of parts, and none makes code of a text. */
    @Test
    void should_have_no_script_that_makes_scripts() {
        for (LuaScript script : LuaScript.values()) {
            String code = script.source().replaceAll("--[^\\n]*", "");
            assertThat(code)
                    .as(script.toString())
                    .doesNotContainPattern(
                            "\\b(loadstring|load|dofile|loadfile|require|setfenv|getfenv|debug)\\b\\s*[(.]")
                    .doesNotContainPattern("'(EVAL|EVALSHA|FCALL|FUNCTION|SCRIPT)'");
            // The name of a command is always a text of the script's own.
            assertThat(code).as(script.toString()).doesNotContainPattern("redis\\.p?call\\((?!')");
        }
        assertThat(LuaScript.CLAIM.source().getBytes(StandardCharsets.UTF_8)).isNotEmpty();
    }
}
