// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ImportReport.Reason;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Messages of Redisson's delayed queue are moved here, each once, whoever else is at work on them. */
class ImportIT extends RealQueueIT {

    /** A message whose id is its text. */
    private static final PayloadConverter BY_TEXT = payload -> new ConvertedPayload(payload, text(payload), 0);

    private static final long FAR = 4_000_000_000_000L;

    private OldQueue old;

    @BeforeEach
    void openOldQueue() {
        old = new OldQueue(redis.client(), redis.uniqueQueue());
    }

    private CompletableFuture<ImportReport> start(PayloadConverter converter, ImportOptions options) {
        return queue.importFrom(new ImportSource(old.name), converter, options);
    }

    private ImportReport importAll(PayloadConverter converter) {
        return get(start(converter, ImportOptions.EVERYTHING));
    }

    /** Everything that the queue holds, by id: when it is due. */
    private Map<String, Long> dues() {
        Map<String, Long> dues = new TreeMap<>();
        String from = null;
        do {
            MessagePage page = get(queue.browse(MessageState.DELAYED, PageStart.next(from), DelayQueue.MAX_PAGE));
            page.messages().forEach(message -> dues.put(message.id(), message.dueMicros()));
            from = page.next();
        } while (from != null);
        return dues;
    }

    private List<String> inOrder() {
        return get(queue.browse(MessageState.DELAYED, PageStart.first(), DelayQueue.MAX_PAGE)).messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    private String left(ImportReport report, Reason reason) {
        return String.join("\n", report.left().get(reason).samples());
    }

    @Test
    void should_move_what_Redisson_has_stored() {
        RBlockingQueue<String> list = redis.client().getBlockingQueue(old.name, StringCodec.INSTANCE);
        RDelayedQueue<String> redissons = redis.client().getDelayedQueue(list);
        redissons.offer("in an hour", 1, TimeUnit.HOURS);
        redissons.offer("in two", 2, TimeUnit.HOURS);
        redissons.destroy();
        list.add("ready");
        old.offer(old.element(false, bytes("old")), 5_000);
        old.offer(old.element(false, bytes("old and far")), FAR);
        Map<String, Double> scores = old.pending().entryRange(0, -1).stream()
                .collect(Collectors.toMap(
                        entry -> text(entry.getValue()).replaceAll("(?s).*(in an hour|in two|old and far|old)$", "$1"),
                        entry -> entry.getScore()));

        ImportReport report = importAll(BY_TEXT);

        assertThat(report.found()).isEqualTo(new ImportReport.Found(4, 1, 1, 2, 2));
        assertThat(report.moved()).isEqualTo(5);
        assertThat(report.gone() + report.renamed() + report.leftInAll() + report.remaining())
                .isZero();
        assertThat(report.nextDueMicros()).isEqualTo(-1);
        Map<String, Long> dues = dues();
        assertThat(dues).containsOnlyKeys("in an hour", "in two", "old", "old and far", "ready");
        scores.forEach((id, score) -> assertThat(dues.get(id)).as(id).isEqualTo((long) (score * 1000)));
        assertThat(dues.get("ready"))
                .isBetween(5_000_000L, scores.get("in an hour").longValue() * 1000);
        assertThat(text(get(queue.get("in an hour")).orElseThrow().body())).isEqualTo("in an hour");
        assertThat(redis.client().getKeys().countExists(old.pendingKey, old.orderKey, old.name))
                .isZero();
    }

    @Test
    void should_keep_the_order_of_one_millisecond_across_slices() {
        List<byte[]> elements = IntStream.range(0, 150)
                .mapToObj(i -> old.element(true, bytes("m" + (149 - i))))
                .toList();
        elements.forEach(element -> old.offer(element, FAR));
        List<String> before = old.pending().readAll().stream()
                .map(element -> text(element).replaceAll("(?s).*(m\\d+)$", "$1"))
                .toList();
        importAll(BY_TEXT);
        assertThat(inOrder()).isEqualTo(before);
        assertThat(dues().values()).allMatch(due -> due >= FAR * 1000 && due < (FAR + 1) * 1000);
    }

    @Test
    void should_leave_what_cannot_be_moved_and_say_why() {
        old.pending().add(1000, bytes("no element at all, of anybody"));
        old.offer("before 1970", -5);
        old.offer(old.element(true, bytes("a fraction")), 1.5);
        old.offer(old.element(true, bytes("far beyond")), 1e13);
        old.offer(old.element(true, bytes("for ever")), Double.POSITIVE_INFINITY);
        old.offer("refused", 7_000);
        old.offer("bad id", 8_000);
        old.offer("nothing", 9_000);
        old.ready("refused");
        old.offer("fine", FAR);
        PayloadConverter picky = payload -> switch (text(payload)) {
            case "refused" -> throw new IllegalStateException("class Order is unknown");
            case "bad id" -> new ConvertedPayload(payload, "tab\t", 0);
            case "nothing" -> null;
            default -> BY_TEXT.convert(payload);
        };

        ImportReport report = importAll(picky);

        assertThat(report.found().all()).isEqualTo(10);
        assertThat(report.moved()).isOne();
        assertThat(report.left()).containsOnlyKeys(Reason.UNREADABLE, Reason.OUT_OF_RANGE, Reason.NOT_CONVERTIBLE);
        assertThat(left(report, Reason.UNREADABLE))
                .isEqualTo("due 1970-01-01T00:00:01Z, 29 bytes 6e6f20656c656d656e7420617420616c6c2c206f6620616e…:"
                        + " this is not what Redisson writes");
        assertThat(report.left().get(Reason.OUT_OF_RANGE).count()).isEqualTo(4);
        assertThat(left(report, Reason.OUT_OF_RANGE))
                .startsWith("due at -5.0 ms, ")
                .contains("due at 1.5 ms, ");
        assertThat(report.left().get(Reason.NOT_CONVERTIBLE).count()).isEqualTo(4);
        assertThat(left(report, Reason.NOT_CONVERTIBLE).lines())
                .hasSize(3)
                .anyMatch(line -> line.startsWith("ready, 7 bytes 72656675736564: class Order is unknown"))
                .anyMatch(line -> line.endsWith("has a control character at position 3: remove it"));
        assertThat(report.remaining())
                .isEqualTo(report.leftInAll())
                .isEqualTo(old.size())
                .isEqualTo(9);
        assertThat(dues()).containsOnlyKeys("fine");

        // With a second converter they are taken as they are.
        ImportReport second = get(start(picky, ImportOptions.EVERYTHING.withFallback(ConvertedPayload::of)));
        assertThat(second.moved()).isEqualTo(4);
        assertThat(second.remaining()).isEqualTo(second.leftInAll()).isEqualTo(5);
        assertThat(dues()).hasSize(5);
    }

    @Test
    void should_give_another_id_to_a_message_whose_id_is_in_use() {
        schedule("delayed", IN_AN_HOUR, 3);
        schedule("leased", LONG_AGO);
        assertThat(ids(claim(1))).containsExactly("leased");
        String longest = "x".repeat(ScheduleRequest.MAX_ID_BYTES);
        schedule(longest, IN_AN_HOUR);
        for (String id : List.of("delayed", "leased", "leased", longest, "new")) {
            old.offer(id, FAR);
        }
        old.ready("new");
        ImportReport report = importAll(payload -> new ConvertedPayload(bytes("imported"), text(payload), 3));
        assertThat(report.moved()).isEqualTo(6);
        assertThat(report.renamed()).isEqualTo(5);
        assertThat(report.remaining()).isZero();
        Set<String> ids = dues().keySet();
        assertThat(ids).hasSize(8).contains("delayed", "new", longest);
        assertThat(ids.stream().filter(id -> id.matches("(delayed|leased|new)#[-0-9A-Z_a-z]{16}")))
                .hasSize(4);
        assertThat(text(get(queue.get("delayed")).orElseThrow().body())).isEqualTo("body of delayed");
        assertThat(text(get(queue.get("new")).orElseThrow().body())).isEqualTo("imported");
        assertThat(get(queue.browse(MessageState.DELAYED, PageStart.first(), 10)).messages().stream()
                        .filter(message -> message.id().startsWith("new"))
                        .map(MessageInfo::priority))
                .containsOnly(3);
    }

    @Test
    void should_change_nothing_in_a_dry_run() {
        IntStream.range(0, 100).forEach(i -> old.offer("p" + i, 1000));
        IntStream.range(0, 100).forEach(i -> old.offer("f" + i, FAR + i));
        IntStream.range(0, 100).forEach(i -> old.ready("r" + i % 10));
        old.pending().add(3, bytes("x"));
        List<byte[]> before = List.copyOf(old.order().readAll());
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        ImportReport report = get(start(
                payload -> {
                    if (text(payload).equals("r5")) {
                        throw new IllegalStateException("no");
                    }
                    return BY_TEXT.convert(payload);
                },
                ImportOptions.EVERYTHING
                        .withDryRun(true)
                        .withGoOn(soFar -> seen.add(soFar.found().all()))));
        assertThat(report.found()).isEqualTo(new ImportReport.Found(201, 100, 101, 0, 200));
        assertThat(report.moved() + report.gone()).isZero();
        assertThat(report.left().get(Reason.NOT_CONVERTIBLE).count()).isEqualTo(10);
        assertThat(report.left().get(Reason.UNREADABLE).count()).isOne();
        assertThat(report.remaining()).isEqualTo(301);
        assertThat(seen).hasSizeGreaterThanOrEqualTo(5).isSorted().endsWith(301L);
        assertThat(old.size()).isEqualTo(301);
        assertThat(old.order().readAll()).usingRecursiveComparison().isEqualTo(before);
        assertThat(dues()).isEmpty();
    }

    @Test
    void should_move_what_is_due_and_tell_when_the_next_one_is() {
        old.offer("due", 1000);
        old.offer("soon", System.currentTimeMillis() + 3_600_000);
        old.offer("far", FAR);
        ImportReport report = get(start(BY_TEXT, ImportOptions.DUE));
        assertThat(report.moved()).isOne();
        assertThat(report.remaining()).isEqualTo(2);
        assertThat(report.nextDueMicros()).isBetween(3_000_000_000L, 3_600_000_000L);
        assertThat(dues()).containsOnlyKeys("due");
        report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withAhead(Duration.ofHours(2))));
        assertThat(report.moved()).isOne();
        assertThat(report.nextDueMicros()).isGreaterThan(3_600_000_000L);
        assertThat(dues()).containsOnlyKeys("due", "soon");
        assertThat(get(start(BY_TEXT, ImportOptions.DUE)).found().all()).isZero();
    }

    @Test
    void should_stop_between_slices_and_go_on_another_time() {
        IntStream.range(0, 200).forEach(i -> old.offer("m" + i, FAR + i));
        ImportReport report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(soFar -> false)));
        assertThat(report.moved()).isEqualTo(64);
        assertThat(report.remaining()).isEqualTo(136);
        assertThat(report.nextDueMicros()).isZero();
        CompletableFuture<CompletableFuture<ImportReport>> cancelled = new CompletableFuture<>();
        CountDownLatch slice = new CountDownLatch(1);
        CompletableFuture<ImportReport> running = start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(soFar -> {
            cancelled.join().cancel(false);
            slice.countDown();
            return true;
        }));
        cancelled.complete(running);
        assertThat(running).failsWithin(Duration.ofSeconds(20));
        assertThat(get(CompletableFuture.supplyAsync(() -> awaited(slice), executor)))
                .isTrue();
        assertThat(old.size()).isEqualTo(72);
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(72);
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void should_leave_what_the_queue_has_no_space_for() {
        schedule("a", IN_AN_HOUR);
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        ImportReport report = get(start(BY_TEXT, ImportOptions.EVERYTHING.withMaximumQueueLength(11)));
        assertThat(report.moved()).isEqualTo(10);
        assertThat(report.left().get(Reason.QUEUE_FULL).count()).isEqualTo(54);
        assertThat(report.remaining()).isEqualTo(90);
        assertThat(dues()).hasSize(11);
    }

    @Test
    void should_keep_a_short_order_exact_for_those_who_still_use_it() {
        RBlockingQueue<String> list = redis.client().getBlockingQueue(old.name, StringCodec.INSTANCE);
        RDelayedQueue<String> redissons = redis.client().getDelayedQueue(list);
        List.of("a", "b", "c")
                .forEach(payload -> redissons.offer(payload, payload.equals("b") ? 1 : 2, TimeUnit.HOURS));
        get(start(BY_TEXT, ImportOptions.EVERYTHING.withAhead(Duration.ofMinutes(90))));
        assertThat(dues()).containsOnlyKeys("b");
        assertThat(redissons.readAll()).containsExactly("a", "c");
        assertThat(redissons.remove("b")).isFalse();
        assertThat(redissons.remove("a")).isTrue();
        redissons.destroy();
        assertThat(importAll(BY_TEXT).moved()).isOne();
        assertThat(dues()).containsOnlyKeys("b", "c");
    }

    @Test
    void should_drop_what_is_gone_from_the_head_of_a_long_order() {
        List<byte[]> elements = IntStream.range(0, 1500)
                .mapToObj(i -> old.element(true, bytes("m" + i)))
                .toList();
        Map<byte[], Double> scores = new IdentityHashMap<>();
        elements.forEach(element -> scores.put(element, 1000.0 * (1 + scores.size())));
        elements.stream().skip(1100).forEach(element -> scores.put(element, FAR + 0.0));
        old.pending().addAll(scores);
        old.order().addAll(elements);
        assertThat(get(start(BY_TEXT, ImportOptions.DUE)).moved()).isEqualTo(1100);
        assertThat(old.order().readAll()).usingRecursiveComparison().isEqualTo(elements.subList(1100, 1500));
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(400);
        assertThat(redis.client().getKeys().countExists(old.pendingKey, old.orderKey, old.name))
                .isZero();
        assertThat(dues()).hasSize(1500);
    }

    @Test
    void should_wake_a_consumer_for_what_it_brings() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, concurrent(1));
        schedule("first", DueTime.now());
        next(received).acknowledge();
        old.ready("ready");
        importAll(BY_TEXT);
        Delivery delivery = next(received);
        assertThat(delivery.id()).isEqualTo("ready");
        delivery.acknowledge();
        old.offer("pending", System.currentTimeMillis() + 300);
        importAll(BY_TEXT);
        assertThat(next(received).id()).isEqualTo("pending");
    }

    @Test
    void should_answer_a_repeated_call_the_same_and_take_nothing_more() {
        ScriptExecutor caller = new RedissonScriptExecutor(redis.client());
        List<Object> keys = keys().importing(old.name).of(LuaScript.IMPORT);
        IntStream.range(0, 3).forEach(i -> old.ready("equal"));
        Object[] call = Stream.of("session", "7", "base", "a", "ready=0", "equal", "x", "b", "ready=0", "equal", "x")
                .map(RealQueueIT::bytes)
                .toArray();
        Object first = get(caller.call(LuaScript.IMPORT, keys, call, 1));
        assertThat(old.size()).isOne();
        assertThat(get(caller.call(LuaScript.IMPORT, keys, call, 1))).isEqualTo(first);
        assertThat(old.size()).isOne();
        assertThat(dues()).containsOnlyKeys("a", "b");
    }

    @Test
    void should_relieve_a_full_Redis() throws Exception {
        try (RedisServer server = RedisServer.dedicated("maxmemory-policy noeviction")) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient own = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                OldQueue full = new OldQueue(redisson, "full");
                IntStream.range(0, 200).forEach(i -> full.offer("m" + i, 1000 + i));
                IntStream.range(0, 10).forEach(i -> full.ready("r" + i));
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().setConfig("maxmemory", "1");
                queue = own.queue("full");
                assertThatThrownBy(() -> schedule("a", IN_AN_HOUR)).hasMessageContaining("no memory left");
                ImportReport report = get(queue.importFrom(
                        new ImportSource("full"),
                        payload -> new ConvertedPayload(payload, null, 5),
                        ImportOptions.EVERYTHING));
                assertThat(report.moved()).isEqualTo(210);
                assertThat(dues()).hasSize(210);
                assertThat(full.size()).isZero();
            } finally {
                redisson.shutdown();
            }
        }
    }

    @Test
    void should_spread_messages_over_partitions() {
        queue = client.queue(redis.uniqueQueue(), 3);
        IntStream.range(0, 200).forEach(i -> old.offer("m" + i, FAR + i));
        IntStream.range(0, 100).forEach(i -> old.ready("r" + i));
        ImportReport report = importAll(BY_TEXT);
        assertThat(report.moved()).isEqualTo(300);
        assertThat(report.remaining()).isZero();
        assertThat(dues()).hasSize(300);
        assertThat(get(queue.get("m7"))).isPresent();
        // Each partition has its share of a limit.
        IntStream.range(0, 300).forEach(i -> old.offer("n" + i, FAR + i));
        ImportReport full = get(start(BY_TEXT, ImportOptions.EVERYTHING.withMaximumQueueLength(360)));
        assertThat(full.left()).containsOnlyKeys(Reason.QUEUE_FULL);
        assertThat(dues()).hasSizeLessThanOrEqualTo(360);
    }

    @Test
    void should_refuse_a_client_that_cannot_name_the_keys() throws Exception {
        RedissonClient redisson = MappedNames.connect(redis.address(), "app:");
        try (DelayQueueClient mapped = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            queue = mapped.queue("orders");
            assertThatThrownBy(() -> importAll(BY_TEXT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("queue 'orders': cannot import from Redisson's queue '" + old.name
                            + "': the Redisson client has a NameMapper, which makes 'app:" + old.pendingKey
                            + "' of the key '" + old.pendingKey
                            + "': use a client without one, and the names as they are in Redis");
        } finally {
            redisson.shutdown();
        }
    }

    @Test
    void should_fail_where_replicas_are_asked_for_and_missing() {
        old.ready("r");
        ClientOptions options = new ClientOptions(
                ClientOptions.DEFAULT_KEY_PREFIX,
                Duration.ofSeconds(10),
                new Durability(99, false, Duration.ofMillis(10)));
        try (DelayQueueClient durable = DelayQueueClient.create(redis.client(), options)) {
            DelayQueue same = durable.queue(queue.name());
            assertThatThrownBy(
                            () -> get(same.importFrom(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING)))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("message 'r' is stored");
        }
        assertThat(dues()).containsOnlyKeys("r");
    }

    @Test
    void should_give_way_for_a_moment_where_others_have_taken_everything() {
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        ScriptExecutor redisson = new RedissonScriptExecutor(redis.client());
        AtomicInteger imports = new AtomicInteger();
        ScriptExecutor late = (script, keys, arguments, attempt) -> {
            if (script == LuaScript.IMPORT && imports.getAndIncrement() == 0) {
                old.pending().removeRangeByRank(0, 63);
            }
            return redisson.call(script, keys, arguments, attempt);
        };
        FakeTimers timers = new FakeTimers();
        BlockingQueue<ImportReport> slices = new LinkedBlockingQueue<>();
        DelayQueueClient own = ClientAccess.create(
                late, ClientOptions.DEFAULTS, timers, new Random(1), System::currentTimeMillis, redis.client());
        CompletableFuture<ImportReport> running = own.queue(queue.name())
                .importFrom(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING.withGoOn(slices::add));
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
        ScriptExecutor redisson = new RedissonScriptExecutor(redis.client());
        AtomicInteger imports = new AtomicInteger();
        ScriptExecutor losing = (script, keys, arguments, attempt) -> {
            CompletableFuture<Object> answer = redisson.call(script, keys, arguments, attempt);
            return script == LuaScript.IMPORT && imports.getAndIncrement() % 2 == 0
                    ? answer.thenCompose(
                            lost -> CompletableFuture.failedFuture(new RedisResponseTimeoutException("no answer")))
                    : answer;
        };
        try (DelayQueueClient own = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, losing)) {
            ImportReport report = get(own.queue(queue.name())
                    .importFrom(new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING));
            assertThat(report.moved()).isEqualTo(200);
            assertThat(report.gone() + report.remaining()).isZero();
        }
        assertThat(imports).hasValueGreaterThanOrEqualTo(8);
        assertThat(dues()).hasSize(200);
        assertThat(old.size()).isZero();
    }

    @Test
    void should_fail_as_those_do_whom_it_asks() {
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        assertThatThrownBy(() -> get(start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(report -> {
                    throw new IllegalStateException("the listener's");
                }))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the listener's");
        assertThat(dues()).hasSize(64);
        assertThatThrownBy(() -> get(start(BY_TEXT, ImportOptions.EVERYTHING.withExecutor(task -> {
                    throw new RejectedExecutionException("full");
                }))))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(36);
    }

    @Test
    void should_refuse_dead_letters_and_a_closed_client() {
        old.ready("r");
        assertThatThrownBy(() ->
                        queue.deadLetters().importFrom(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("importFrom is a call to the queue");
        assertThatThrownBy(() -> new ImportSource(" ")).hasMessageContaining("1 to 512");
        client.close();
        assertThatThrownBy(() -> importAll(BY_TEXT))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("closed");
        assertThat(old.size()).isOne();
    }

    @Test
    void should_tell_of_a_key_of_another_kind_and_change_nothing() {
        redis.client().getBucket(old.name, StringCodec.INSTANCE).set("somebody's");
        old.offer("m", FAR);
        assertThatThrownBy(() -> importAll(BY_TEXT))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("WRONGTYPE");
        assertThat(old.pending().size()).isOne();
        assertThat(dues()).isEmpty();
    }

    /** Old producers, transfers and consumers, and several importers, all at once. */
    @Test
    void should_lose_nothing_and_give_nothing_twice_beside_old_clients_and_other_imports() throws Exception {
        long seed = RandomTests.seed("import.seed");
        int messages = RandomTests.amount("import.messages", 3_000, 20_000);
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
                        .map(one -> one.queue(queue.name())
                                .importFrom(new ImportSource(old.name), ConvertedPayload::of, options))
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
                .forEach(body -> all.add(text(Arrays.copyOfRange(body, 8, body.length))));
        assertThat(all).as("seed %d", seed).hasSize(messages + (int) equal);
        assertThat(all.stream().filter(payload -> payload.equals("equal"))).hasSize((int) equal);
        all.removeIf("equal"::equals);
        assertThat(all).containsExactlyInAnyOrderElementsOf(offered);
        assertThat(moved).isEqualTo(messages + equal - popped.size());
        assertThat(old.size()).isZero();
    }
}
