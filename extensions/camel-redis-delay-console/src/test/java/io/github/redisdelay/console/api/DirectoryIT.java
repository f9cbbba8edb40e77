// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Which queues are shown, to whom, at what cost, and what is shown of a Redis that does not answer. */
class DirectoryIT extends ApiIT {

    /** The calls that a console makes, by script. */
    private static final class Counted implements CallListener {
        final Map<String, LongAdder> calls = new ConcurrentHashMap<>();

        @Override
        public void ended(String script, long nanos, boolean failed) {
            calls.computeIfAbsent(script, name -> new LongAdder()).increment();
        }

        long sum() {
            return calls.values().stream().mapToLong(LongAdder::sum).sum();
        }
    }

    @Test
    void should_show_500_queues_in_one_answer() {
        for (int i = 0; i < 500; i++) {
            schedule(client.queue("q" + i), "m", i % 50 == 0 ? LONG_AGO : IN_AN_HOUR);
        }
        awaitKnown(500);
        // Those that do not answer in time, on a busy machine, do with the next look.
        QueueViews.Queues seen = await().until(() -> api.queues(ANYBODY), queues -> queues.queues().stream()
                .noneMatch(row -> row.state().equals("unreachable")));
        assertThat(seen.queues()).hasSize(500);
        assertThat(seen.queues().subList(0, 10)).allMatch(row -> row.state().equals("late"));
        assertThat(seen.queues().subList(10, 500)).allMatch(row -> row.state().equals("onTime"));
    }

    @Test
    void should_show_nobody_a_queue_that_is_not_for_him() {
        schedule(client.queue("mine"), "m", IN_AN_HOUR);
        schedule(client.queue("theirs"), "m", IN_AN_HOUR);
        awaitKnown(2);
        ConsoleUser user =
                user(ConsoleRights.byQueue(name -> name.equals("mine") ? ConsoleRights.read() : ConsoleRights.none()));
        assertThat(api.queues(user).queues()).extracting(QueueViews.Row::name).containsExactly("mine");
        assertThat(api.queues(user).queues().get(0).actions()).isEmpty();
        assertThat(api.me(user).actions()).isEmpty();
        assertThat(api.me(user).readOnly()).isTrue();
        String job = api.check("theirs").id();
        assertThat(api.jobs(user).jobs()).isEmpty();
        assertThatThrownBy(() -> api.job(user, job)).hasMessageStartingWith("There is no such job");
    }

    @Test
    void should_tell_who_one_is_and_which_server_it_is() {
        schedule(client.queue("q"), "m", IN_AN_HOUR);
        ConsoleApi.Me me = api.me(ANYBODY);
        assertThat(me.user()).isEqualTo("operator");
        assertThat(me.server().address()).isEqualTo(redis.address());
        assertThat(me.server().evictionPolicy()).isEqualTo("noeviction");
        assertThat(me.time()).isNotNull();
    }

    @Test
    void should_say_that_a_server_has_its_append_only_file_off() {
        try (RedisServer server = RedisServer.dedicated("appendonly no")) {
            RedissonClient redisson = redisson(server);
            try (DelayQueueClient forgetful =
                            DelayQueueClient.create(redisson, ClientOptions.DEFAULTS.withKeyPrefix("off"));
                    ConsoleApi console = new ConsoleApi(
                            () -> List.of(new QueueSource(forgetful, server.address(), Map.of())),
                            List::of,
                            ConsoleOptions.DEFAULTS)) {
                schedule(forgetful.queue("q"), "m", IN_AN_HOUR);
                await().until(() -> console.queues(ANYBODY).queues().size() == 1);
                assertThat(console.me(ANYBODY).server().appendOnly()).isFalse();
                assertThat(((QueueViews.Row) console.queue(ANYBODY, "q").first()).diagnosis())
                        .extracting(Diagnosis.Finding::text)
                        .anyMatch(text -> text.contains("set appendonly to yes"));
            } finally {
                redisson.shutdown();
            }
        }
    }

    @Test
    void should_show_a_name_in_the_registry_that_no_queue_can_have_to_nobody() {
        schedule(client.queue("q"), "m", IN_AN_HOUR);
        awaitKnown(1);
        redis.client()
                .getScoredSortedSet(redis.keyPrefix() + ":queues", StringCodec.INSTANCE)
                .add(9e15, "a{b}\n");
        assertThat(api.queues(ANYBODY).queues())
                .extracting(QueueViews.Row::name)
                .containsExactly("q");
    }

    @Test
    void should_not_hang_on_a_redis_that_is_away_and_see_it_come_back() {
        try (RedisServer server = RedisServer.dedicated("appendonly yes")) {
            RedissonClient redisson = redisson(server);
            ClientOptions options =
                    ClientOptions.DEFAULTS.withKeyPrefix("away").withRequestTimeout(Duration.ofSeconds(2));
            try (DelayQueueClient away = DelayQueueClient.create(redisson, options);
                    ConsoleApi console = new ConsoleApi(
                            () -> List.of(new QueueSource(away, server.address(), Map.of())),
                            List::of,
                            ConsoleOptions.DEFAULTS)) {
                for (int i = 0; i < 50; i++) {
                    schedule(away.queue("q" + i), "m", IN_AN_HOUR);
                }
                await().until(() -> console.queues(ANYBODY).queues().size() == 50);
                server.kill();
                await().until(() -> console.queues(ANYBODY).queues().stream()
                        .allMatch(row -> row.state().equals("unreachable")));
                long began = System.nanoTime();
                QueueViews.Queues queues = console.queues(ANYBODY);
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(4));
                assertThat(queues.queues()).hasSize(50).allSatisfy(row -> {
                    assertThat(row.delayed()).isNull();
                });
                assertThat(queues.queues().stream().flatMap(row -> row.diagnosis().stream()))
                        .as("one line for all, but where some were not asked in time")
                        .hasSizeBetween(1, 2)
                        .allSatisfy(finding -> assertThat(finding.text())
                                .doesNotContain("queue '")
                                .endsWith("other queues, too)"));
                ApiException error = catchThrowableOfType(ApiException.class, () -> console.message("q1", "m", null));
                assertThat(error.kind()).isEqualTo(Kind.UNREACHABLE);
                assertThat(console.me(ANYBODY).time()).isNull();
                server.start();
                await().until(() -> console.queues(ANYBODY).queues().stream()
                        .allMatch(row -> row.state().equals("onTime")));
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static RedissonClient redisson(RedisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.address());
        return Redisson.create(config);
    }

    @Test
    void should_ask_redis_about_once_a_second_however_many_look() throws Exception {
        DelayQueue queue = client.queue("busy");
        AtomicBoolean goOn = new AtomicBoolean(true);
        Future<?> traffic = executor.submit(() -> {
            for (int i = 0; goOn.get(); i++) {
                get(queue.schedule(message("m" + i, DueTime.now(), "x", Map.of())));
            }
        });
        consume(queue, "app-1", 10, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        Counted counted = new Counted();
        ClientOptions options = ClientOptions.DEFAULTS
                .withKeyPrefix(redis.keyPrefix())
                .withRequestTimeout(Duration.ofSeconds(3))
                .withListener(counted);
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        try (DelayQueueClient own = DelayQueueClient.create(redis.client(), options);
                ConsoleApi console = new ConsoleApi(
                        () -> List.of(new QueueSource(own, redis.address(), Map.of())),
                        List::of,
                        ConsoleOptions.DEFAULTS)) {
            console.queue(ANYBODY, "busy"); // asks for all at once the first time
            console.queues(ANYBODY);
            console.outlook("busy", "hour");
            long before = counted.sum();
            Map<String, Long> first = new TreeMap<>();
            counted.calls.forEach((script, count) -> first.put(script, count.sum()));
            long began = System.nanoTime();
            // 20 pages for 10 s, each ten times as often as a page asks.
            CountDownLatch rounds = new CountDownLatch(20 * 50);
            ScheduledExecutorService pages = Executors.newScheduledThreadPool(20);
            try {
                for (int i = 0; i < 20; i++) {
                    pages.scheduleAtFixedRate(
                            () -> {
                                try {
                                    console.queues(ANYBODY);
                                    console.queue(ANYBODY, "busy");
                                    console.outlook("busy", "hour");
                                } catch (RuntimeException e) {
                                    errors.add(e);
                                }
                                rounds.countDown();
                            },
                            0,
                            200,
                            TimeUnit.MILLISECONDS);
                }
                assertThat(rounds.await(2, TimeUnit.MINUTES)).isTrue();
            } finally {
                pages.shutdown();
            }
            assertThat(pages.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
            double seconds = (System.nanoTime() - began) / 1e9;
            double rate = (counted.sum() - before) / seconds;
            Map<String, Long> last = new TreeMap<>();
            counted.calls.forEach((script, count) -> last.put(script, count.sum() - first.getOrDefault(script, 0L)));
            assertThat(errors).isEmpty();
            assertThat(rate).as("calls to Redis a second, %s", last).isLessThan(2.5);
        } finally {
            goOn.set(false);
            traffic.get();
        }
    }
}
