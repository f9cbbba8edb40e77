// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.client.codec.ByteArrayCodec;

/** Each message is moved once, whoever else is at work on it, and whatever answers are lost. */
class ImportRaceIT extends OldQueueIT {

    @Test
    void should_answer_a_repeated_call_the_same_and_take_nothing_more() {
        ScriptExecutor caller = new PatientCaller(redis.client());
        List<Object> keys = ImportScripts.keys(keys(), old.name).of(ImportScripts.IMPORT);
        IntStream.range(0, 3).forEach(i -> old.ready("equal"));
        Object[] call = Stream.of("session", "7", "base", "a", "ready=0", "equal", "x", "b", "ready=0", "equal", "x")
                .map(RealQueueIT::bytes)
                .toArray();
        Object first = get(caller.call(ImportScripts.IMPORT, keys, call, 1));
        assertThat(old.size()).isOne();
        assertThat(get(caller.call(ImportScripts.IMPORT, keys, call, 1))).isEqualTo(first);
        assertThat(old.size()).isOne();
        assertThat(dues()).containsOnlyKeys("a", "b");
    }

    @Test
    void should_give_way_for_a_moment_where_others_have_taken_everything() {
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        ScriptExecutor redisson = new PatientCaller(redis.client());
        AtomicInteger imports = new AtomicInteger();
        ScriptExecutor late = (script, keys, arguments, attempt) -> {
            if (script == ImportScripts.IMPORT && imports.getAndIncrement() == 0) {
                old.pending().removeRangeByRank(0, 63);
            }
            return redisson.call(script, keys, arguments, attempt);
        };
        FakeTimers timers = new FakeTimers();
        BlockingQueue<ImportReport> slices = new LinkedBlockingQueue<>();
        DelayQueueClient own = ClientAccess.create(
                late, ClientOptions.DEFAULTS, timers, new Random(1), System::currentTimeMillis, redis.client());
        CompletableFuture<ImportReport> running = RedissonImport.into(own.queue(queue.name()))
                .run(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING.withGoOn(slices::add));
        await().until(() -> !slices.isEmpty());
        assertThat(slices.peek().gone()).isEqualTo(64);
        await().until(() -> timers.next() != null && timers.next().toMillis() <= 50);
        timers.advance(Duration.ofMillis(10).minusNanos(1));
        assertThat(running).isNotDone();
        timers.advance(Duration.ofMillis(40));
        ImportReport report = get(running);
        assertThat(report.gone()).isEqualTo(64);
        assertThat(report.moved()).isEqualTo(36);
        assertThat(report.remaining()).isZero();
        own.close(Duration.ZERO);
    }

    @Test
    void should_move_each_once_where_answers_are_lost() {
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        IntStream.range(0, 100).forEach(i -> old.ready("equal"));
        ScriptExecutor redisson = new PatientCaller(redis.client());
        AtomicInteger imports = new AtomicInteger();
        ScriptExecutor losing = (script, keys, arguments, attempt) -> {
            CompletableFuture<Object> answer = redisson.call(script, keys, arguments, attempt);
            return script == ImportScripts.IMPORT && imports.getAndIncrement() % 2 == 0
                    ? answer.thenCompose(
                            lost -> CompletableFuture.failedFuture(new RedisResponseTimeoutException("no answer")))
                    : answer;
        };
        try (DelayQueueClient own = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, losing)) {
            ImportReport report = get(RedissonImport.into(own.queue(queue.name()))
                    .run(new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING));
            assertThat(report.moved()).isEqualTo(200);
            assertThat(report.gone() + report.remaining()).isZero();
        }
        assertThat(imports).hasValueGreaterThanOrEqualTo(8);
        assertThat(dues()).hasSize(200);
        assertThat(old.size()).isZero();
    }

    /** Old producers, transfers and consumers, and several importers, all at once. */
    @Test
    void should_lose_nothing_and_give_nothing_twice_beside_old_clients_and_other_imports() throws Exception {
        long seed = RandomTests.seed("import.seed");
        int messages = RandomTests.amount("import.messages", 3_000, 10_000);
        Random random = new Random(seed);
        Set<String> offered = new HashSet<>();
        long now = System.currentTimeMillis();
        for (int i = 0; i < messages; i++) {
            String payload = "m" + i + "x".repeat(random.nextInt(30));
            offered.add(payload);
            int kind = random.nextInt(10);
            if (kind < 3) {
                old.ready(payload);
            } else {
                old.offer(old.element(true, bytes(payload)), now + random.nextInt(2_000) - 1_000);
            }
            if (kind == 0) {
                old.ready("equal");
            }
        }
        long equal = old.ready().readAll().stream()
                .filter(payload -> text(payload).equals("equal"))
                .count();
        List<String> popped = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch end = new CountDownLatch(1);
        Future<?> consumer = executor.submit(() -> {
            while (end.getCount() > 0) {
                old.transfer(3);
                String payload = old.poll();
                if (payload != null) {
                    popped.add(payload);
                }
            }
        });
        List<DelayQueueClient> clients = List.of(
                client,
                DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS),
                DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS));
        long moved = 0;
        try {
            for (int round = 0; round < 3; round++) {
                ImportOptions options = round < 2 ? ImportOptions.DUE : ImportOptions.EVERYTHING;
                List<CompletableFuture<ImportReport>> all = clients.stream()
                        .map(one -> RedissonImport.into(one.queue(queue.name()))
                                .run(new ImportSource(old.name), ConvertedPayload::of, options))
                        .toList();
                for (CompletableFuture<ImportReport> one : all) {
                    moved += one.get(60, TimeUnit.SECONDS).moved();
                }
            }
            end.countDown();
            consumer.get(20, TimeUnit.SECONDS);
            moved += importAll(ConvertedPayload::of).moved();
        } finally {
            end.countDown();
            clients.forEach(DelayQueueClient::close);
        }
        List<String> all = new ArrayList<>(popped);
        redis.client()
                .<byte[], byte[]>getMap(keys().key("messages"), ByteArrayCodec.INSTANCE)
                .readAllValues()
                .forEach(body -> all.add(text(Arrays.copyOfRange(body, 16, body.length))));
        assertThat(all).as("seed %d", seed).hasSize(messages + (int) equal);
        assertThat(all.stream().filter(payload -> payload.equals("equal"))).hasSize((int) equal);
        all.removeIf("equal"::equals);
        assertThat(all).containsExactlyInAnyOrderElementsOf(offered);
        assertThat(moved).isEqualTo(messages + equal - popped.size());
        assertThat(old.size()).isZero();
    }
}
