// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.LogLines;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The registry of queues: which ones were used, told best as can be, at no cost for those who use them. */
@Timeout(60)
class QueueRegistryIT extends RealQueueIT {

    private static final long DAY_MICROS = Duration.ofDays(1).toNanos() / 1000;

    private final List<DelayQueueClient> clients = new ArrayList<>();
    /** The names for which a client has sent notes, and by how much its clock is ahead. */
    private final Queue<String> notes = new ConcurrentLinkedQueue<>();

    private final AtomicLong aheadNanos = new AtomicLong();
    private ClientOptions options;
    private RScoredSortedSet<String> registry;
    private DelayQueueClient counted;

    @BeforeEach
    void openRegistry() {
        options = ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix());
        registry = redis.client().getScoredSortedSet(redis.keyPrefix() + ":queues", StringCodec.INSTANCE);
        counted = counting(new RedissonScriptExecutor(redis.client()));
    }

    @AfterEach
    void closeClients() {
        clients.forEach(DelayQueueClient::close);
    }

    /** A client that tells of its notes, on a clock that tests advance. */
    private DelayQueueClient counting(ScriptExecutor executor) {
        ScheduledTimers timers = new ScheduledTimers();
        Timers ahead = new Timers() {
            @Override
            public long nanoTime() {
                return timers.nanoTime() + aheadNanos.get();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return timers.schedule(delayNanos, task);
            }
        };
        DelayQueueClient client = ClientAccess.create(
                (script, keys, arguments, attempt) -> {
                    if (script == LuaScript.REGISTER) {
                        notes.add(text((byte[]) arguments[0]));
                    }
                    return executor.call(script, keys, arguments, attempt);
                },
                options,
                ahead,
                new SecureRandom(),
                System::currentTimeMillis,
                redis.client());
        clients.add(client);
        return client;
    }

    private static List<String> names(DelayQueueClient client) {
        return get(client.queues(DelayQueueClient.MAX_QUEUES)).stream()
                .map(QueueInfo::name)
                .toList();
    }

    private void awaitNames(String... names) {
        await().untilAsserted(() -> assertThat(names(counted)).containsExactly(names));
    }

    private static void schedule(DelayQueue queue) {
        get(queue.schedule(ScheduleRequest.of(null, new byte[1], IN_AN_HOUR)));
    }

    @Test
    void should_list_queues_that_were_used_the_last_used_first() {
        assertThat(names(counted)).isEmpty();
        long before = get(counted.queue("any").admin().stats()).timeMicros();
        schedule(counted.queue("orders"));
        awaitNames("orders");
        schedule(counted.queue("mails", 3));
        awaitNames("mails", "orders");
        get(counted.queue("tokens").admin().pause());
        awaitNames("tokens", "mails", "orders");
        long after = get(counted.queue("any").admin().stats()).timeMicros();
        assertThat(get(counted.queues(2))).hasSize(2).allSatisfy(queue -> assertThat(queue.lastUsedMicros())
                .isBetween(before, after));
        assertThat(get(counted.queues(1))).extracting(QueueInfo::name).containsExactly("tokens");
    }

    @Test
    void should_list_queues_with_a_consumer_and_dead_letters_as_their_queue() {
        counted.queue("orders").consume(named("one"), executor, delivery -> {});
        awaitNames("orders");
        counted.queue("mails", 4).deadLetters().consume(named("two"), executor, delivery -> {});
        awaitNames("mails", "orders");
    }

    @Test
    void should_not_list_what_was_only_looked_at() {
        DelayQueue seen = counted.queue("seen");
        get(seen.admin().stats());
        get(seen.get("id"));
        get(seen.admin().list(MessageState.DELAYED, PageStart.first(), 1));
        get(seen.deadLetters().admin().stats());
        get(seen.admin().consumers());
        get(seen.admin().serverInfo());
        schedule(counted.queue("used"));
        awaitNames("used");
        assertThat(notes).containsExactly("used");
    }

    @Test
    void should_note_a_queue_once_in_an_hour_however_much_is_asked_of_it() {
        DelayQueue orders = counted.queue("orders", 4);
        for (int i = 0; i < 1000; i++) {
            orders.schedule(ScheduleRequest.of("m" + i, new byte[1], IN_AN_HOUR));
        }
        schedule(counted.queue("mails"));
        for (int i = 0; i < 1000; i++) {
            get(orders.cancel("m" + i));
        }
        assertThat(notes).containsExactlyInAnyOrder("orders", "mails");
        aheadNanos.set(Duration.ofMinutes(59).toNanos());
        schedule(orders);
        assertThat(notes).hasSize(2);
        aheadNanos.set(Duration.ofMinutes(61).toNanos());
        schedule(orders);
        await().untilAsserted(
                        () -> assertThat(notes).filteredOn("orders"::equals).hasSize(2));
        schedule(orders);
        assertThat(notes).hasSize(3);
    }

    @Test
    void should_note_a_queue_again_with_each_new_consumer_but_once_in_a_minute() {
        DelayQueue orders = counted.queue("orders", 8);
        DelayQueueConsumer first = orders.consume(named("one"), executor, delivery -> {});
        awaitNames("orders");
        assertThat(notes).containsExactly("orders");
        aheadNanos.set(Duration.ofSeconds(45).toNanos()); // the rest, up to 50 s, is for a busy machine
        orders.consume(named("two"), executor, delivery -> {});
        await().untilAsserted(() -> assertThat(get(orders.admin().consumers())).hasSize(2));
        assertThat(notes).hasSize(1);
        registry.delete(); // as if Redis had lost it
        aheadNanos.set(Duration.ofSeconds(60).toNanos());
        orders.consume(named("three"), executor, delivery -> {});
        awaitNames("orders");
        assertThat(notes).hasSize(2);
        first.stop(true);
    }

    @Test
    void should_list_queues_of_its_own_prefix_only() {
        schedule(counted.queue("orders"));
        awaitNames("orders");
        schedule(queue); // of the default prefix
        await().untilAsserted(() -> assertThat(names(client)).contains(queue.name()));
        assertThat(names(client)).doesNotContain("orders");
        assertThat(names(counted)).containsExactly("orders");
    }

    @Test
    void should_take_any_name_that_a_queue_may_have() {
        List<String> hostile = List.of(
                "a b",
                "%00",
                "*",
                "[x]",
                "$(id)",
                "' or 1",
                "<script>",
                "ü€😀",
                "+inf",
                "(0",
                "queues",
                "x".repeat(200));
        for (String name : hostile) {
            schedule(counted.queue(name));
        }
        await().untilAsserted(() -> assertThat(names(counted)).containsExactlyInAnyOrderElementsOf(hostile));
        assertThat(names(counted)).allSatisfy(name -> assertThat(QueueNames.check("queueName", name))
                .isEqualTo(name));
    }

    @Test
    void should_forget_what_was_not_used_for_400_days() {
        long now = get(counted.queue("any").admin().stats()).timeMicros();
        registry.addAll(Map.of("last-year", now - 399.0 * DAY_MICROS, "before", now - 401.0 * DAY_MICROS));
        schedule(counted.queue("orders"));
        awaitNames("orders", "last-year");
        assertThat(registry.remainTimeToLive())
                .isGreaterThan(Duration.ofDays(399).toMillis());
    }

    @Test
    void should_keep_the_10000_that_were_used_last() {
        long now = get(counted.queue("any").admin().stats()).timeMicros();
        Map<String, Double> many = new HashMap<>();
        for (int i = 0; i < 10_050; i++) {
            many.put("q" + i, now - 20_000.0 + i);
        }
        registry.addAll(many);
        schedule(counted.queue("orders"));
        await().untilAsserted(() -> assertThat(registry.size()).isEqualTo(10_000));
        assertThat(names(counted))
                .hasSize(10_000)
                .startsWith("orders", "q10049")
                .endsWith("q51");
    }

    @Test
    void should_list_a_queue_that_is_used_while_the_pages_are_read() {
        long now = get(counted.queue("any").admin().stats()).timeMicros();
        Map<String, Double> many = new HashMap<>();
        for (int i = 0; i < 1_200; i++) {
            many.put("q" + i, now - 20_000.0 - i);
        }
        registry.addAll(many);
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        AtomicLong pages = new AtomicLong();
        DelayQueueClient reader = counting((script, keys, arguments, attempt) -> {
            if (script == LuaScript.QUEUES && pages.incrementAndGet() == 2) {
                // The last one goes to the front, which was read.
                return real.call(LuaScript.REGISTER, keys, new Object[] {bytes("q1199")}, 1)
                        .thenCompose(noted -> real.call(script, keys, arguments, attempt));
            }
            return real.call(script, keys, arguments, attempt);
        });
        assertThat(names(reader)).hasSize(1_200).startsWith("q1199", "q0", "q1").endsWith("q1198");
        assertThat(pages).hasValue(4);
        assertThat(get(reader.queues(700))).hasSize(700);
        assertThat(get(reader.queues(500))).hasSize(500);
        assertThat(pages).as("two and the first again, then one").hasValue(4 + 3 + 1);
    }

    @Test
    void should_refuse_limits_that_are_none() {
        for (int limit : new int[] {-1, 0, 10_001}) {
            assertThatThrownBy(() -> counted.queues(limit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("limit is " + limit + ": it must be from 1 to 10000");
        }
    }

    @Test
    void should_tell_no_scores_that_are_no_time() {
        redis.client()
                .getScript(StringCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "return redis.call('ZADD', KEYS[1], '-inf', 'never', '+inf', 'always', '-5', 'before-1970', '1e17',"
                                + " 'beyond', '7.5', 'part')",
                        RScript.ReturnType.VALUE,
                        List.of(redis.keyPrefix() + ":queues"));
        assertThat(get(counted.queues(10))).containsExactly(new QueueInfo("part", 7));
    }

    @Test
    void should_say_that_the_registry_cannot_be_read() {
        redis.client()
                .getBucket(redis.keyPrefix() + ":queues", StringCodec.INSTANCE)
                .set("x");
        assertThatThrownBy(() -> get(counted.queues(10)))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("registry of queues '" + redis.keyPrefix() + ":queues': ")
                .hasMessageContaining("WRONGTYPE");
        try (LogLines log = new LogLines("io.github.redisdelay.queue")) {
            schedule(counted.queue("orders"));
            schedule(counted.queue("mails"));
            await().untilAsserted(() -> assertThat(log.of(Level.WARN)).hasSize(1));
            assertThat(log.of(Level.WARN).get(0))
                    .contains("could not be entered in the registry of queues", "~" + redis.keyPrefix() + ":queues");
        }
    }

    @Test
    void should_hold_up_nobody_where_notes_are_not_answered() {
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        DelayQueueClient hung = counting((script, keys, arguments, attempt) ->
                script == LuaScript.REGISTER ? new CompletableFuture<>() : real.call(script, keys, arguments, attempt));
        for (int i = 0; i < 10; i++) {
            schedule(hung.queue("orders"));
        }
        BlockingReceived received = new BlockingReceived(hung.queue("orders"));
        get(hung.queue("orders").schedule(ScheduleRequest.of("now", new byte[1], DueTime.now())));
        received.awaitOne();
        assertThat(notes).isNotEmpty();
        assertThat(names(counted)).isEmpty();
    }

    private final class BlockingReceived {
        private final Queue<Delivery> received = new ConcurrentLinkedQueue<>();

        BlockingReceived(DelayQueue from) {
            from.consume(named("one"), executor, received::add);
        }

        void awaitOne() {
            await().until(() -> !received.isEmpty());
            get(received.poll().settle(Settlement.ACKNOWLEDGE));
        }
    }

    @Test
    void should_note_again_after_a_minute_where_redis_was_away() {
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        AtomicLong failures = new AtomicLong(1);
        DelayQueueClient failing = counting(
                (script, keys, arguments, attempt) -> script == LuaScript.REGISTER && failures.getAndDecrement() > 0
                        ? CompletableFuture.failedFuture(new IllegalStateException("Redis is away"))
                        : real.call(script, keys, arguments, attempt));
        try (LogLines log = new LogLines("io.github.redisdelay.queue")) {
            schedule(failing.queue("orders"));
            schedule(failing.queue("orders"));
            assertThat(names(counted)).isEmpty();
            aheadNanos.set(Duration.ofSeconds(51).toNanos());
            schedule(failing.queue("orders"));
            awaitNames("orders");
            assertThat(notes).containsExactly("orders", "orders");
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_work_through_a_name_mapper() throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address());
        // The interface has another package in Redisson 4 than in 3.
        java.lang.reflect.Method setter = java.util.Arrays.stream(
                        config.useSingleServer().getClass().getMethods())
                .filter(method -> method.getName().equals("setNameMapper"))
                .findFirst()
                .orElseThrow();
        String before = redis.keyPrefix() + "-app:";
        setter.invoke(
                config.useSingleServer(),
                Proxy.newProxyInstance(
                        QueueRegistryIT.class.getClassLoader(),
                        setter.getParameterTypes(),
                        (proxy, method, name) -> method.getName().equals("map")
                                ? before + name[0]
                                : ((String) name[0]).substring(before.length())));
        RedissonClient redisson = Redisson.create(config);
        try (DelayQueueClient mapped = DelayQueueClient.create(redisson, options)) {
            schedule(mapped.queue("orders"));
            await().untilAsserted(() -> assertThat(names(mapped)).containsExactly("orders"));
            assertThat(redis.client()
                            .getKeys()
                            .countExists(before + redis.keyPrefix() + ":queues", redis.keyPrefix() + ":queues"))
                    .isOne();
            assertThat(names(counted)).isEmpty();
        } finally {
            redisson.shutdown();
        }
    }

    @Test
    void should_go_on_without_a_right_to_the_registry_and_say_so_once() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                LogLines log = new LogLines("io.github.redisdelay.queue")) {
            new AclUser(server).isCreated("~redis-delay:{* &* +@all");
            Config config = new Config();
            // Redisson 3 has these settings only here.
            config.useSingleServer()
                    .setAddress(server.address())
                    .setUsername("app")
                    .setPassword("secret")
                    .setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient app = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                for (String name : List.of("orders", "mails")) {
                    BlockingQueue<Delivery> received = consume(app.queue(name), named("one"));
                    get(app.queue(name).schedule(ScheduleRequest.of("now", new byte[1], DueTime.now())));
                    assertThat(get(next(received).settle(Settlement.ACKNOWLEDGE)))
                            .isEqualTo(SettleResult.DONE);
                    await().untilAsserted(() -> assertThat(
                                    names(app.queue(name).admin().consumers()))
                            .containsExactly("one"));
                }
                assertThatThrownBy(() -> get(app.queues(10)))
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining("registry of queues 'redis-delay:queues': ");
                await().untilAsserted(() -> assertThat(log.of(Level.WARN)).hasSize(1));
                assertThat(log.of(Level.WARN).get(0))
                        .contains("registry of queues", "an ACL needs the key ~redis-delay:queues");
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static List<String> names(CompletableFuture<List<ConsumerInfo>> consumers) {
        return get(consumers).stream().map(ConsumerInfo::name).toList();
    }

    @Test
    void should_list_again_what_a_server_without_persistence_has_lost() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient first = counting(new RedissonScriptExecutor(redisson))) {
                schedule(first.queue("orders"));
                await().untilAsserted(() -> assertThat(names(first)).containsExactly("orders"));
                server.kill();
                server.start();
                await().atMost(Duration.ofSeconds(30)).ignoreExceptions().untilAsserted(() -> assertThat(names(first))
                        .isEmpty());
                aheadNanos.set(Duration.ofMinutes(61).toNanos());
                schedule(first.queue("orders"));
                await().untilAsserted(() -> assertThat(names(first)).containsExactly("orders"));
            } finally {
                redisson.shutdown();
            }
        }
    }

    @Test
    void should_work_in_a_cluster_where_the_registry_is_on_another_node_than_a_queue() {
        try (ClusterServers cluster = ClusterServers.start(3, 0)) {
            RedissonClient redisson = cluster.connect();
            try (DelayQueueClient app = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                List<String> queues = cluster.queues(2);
                queues.forEach(name -> schedule(app.queue(name)));
                schedule(app.queue("parted", 8));
                app.queue("consumed", 8).consume(named("one"), executor, delivery -> {});
                await().untilAsserted(() ->
                        assertThat(names(app)).hasSize(8).containsAll(queues).contains("parted", "consumed"));
                assertThat(names(app.queue("consumed", 8).admin().consumers())).containsExactly("one");
            } finally {
                redisson.shutdown();
            }
        }
    }
}
