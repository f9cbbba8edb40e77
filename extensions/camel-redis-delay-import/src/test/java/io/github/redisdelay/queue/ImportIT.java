// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.test.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Imports move the messages of a delayed queue of Redisson's, each once. */
class ImportIT extends OldQueueIT {

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
    void should_leave_recurring_schedules_of_the_queue_alone() {
        Schedule hours = Schedule.every(HOUR);
        for (String id : List.of("runs", "delayed")) {
            get(queue.schedule(
                    ScheduleRequest.of(id, bytes("body"), DueTime.after(HOUR)).recurring(hours, 0)));
            old.offer(id, FAR);
            if (id.equals("runs")) {
                pass(HOUR.plusSeconds(1));
            }
        }
        ClaimedDelivery run = claim(1).get(0);
        ImportReport report = importAll(payload -> new ConvertedPayload(bytes("imported"), text(payload), 3));
        assertThat(report.moved()).isEqualTo(2);
        assertThat(report.renamed()).isEqualTo(2);
        assertThat(get(run.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
        for (String id : List.of("runs", "delayed")) {
            StoredMessage stored = get(queue.get(id)).orElseThrow();
            assertThat(stored.info().rule()).isEqualTo("every 1h");
            assertThat(text(stored.body())).isEqualTo("body");
        }
    }

    @Test
    void should_give_no_group_to_what_it_moves_also_where_its_id_is_that_of_a_parked_message() {
        for (String id : List.of("first", "second")) {
            get(queue.schedule(ScheduleRequest.of(id, bytes("body"), LONG_AGO).withGroup("g")));
        }
        old.offer("second", FAR);
        old.offer("new", FAR);
        ImportReport report = importAll(payload -> new ConvertedPayload(bytes("imported"), text(payload), 0));
        assertThat(report.moved()).isEqualTo(2);
        assertThat(report.renamed()).isOne();
        assertThat(get(queue.group("g").info())).isEqualTo(new GroupInfo("g", 1, 2, 0));
        assertThat(get(queue.admin().list(MessageState.DELAYED, PageStart.first(), 10))
                        .messages())
                .filteredOn(message -> message.dueMicros() > 1)
                .hasSize(2)
                .allSatisfy(message -> assertThat(message.group()).isNull());
        assertThat(ids(claim(10))).containsExactly("first");
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
        assertThat(ids.stream().filter(id -> id.matches("(delayed|leased|new)#[-0-9A-Z_a-z]{14}")))
                .hasSize(4);
        assertThat(text(get(queue.get("delayed")).orElseThrow().body())).isEqualTo("body of delayed");
        assertThat(text(get(queue.get("new")).orElseThrow().body())).isEqualTo("imported");
        assertThat(get(queue.admin().list(MessageState.DELAYED, PageStart.first(), 10)).messages().stream()
                        .filter(message -> message.id().startsWith("new"))
                        .map(MessageInfo::priority))
                .containsOnly(3);
    }

    @Test
    void should_wake_a_consumer_for_what_it_brings() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, concurrent(1));
        schedule("first", DueTime.now());
        next(received).settle(Settlement.ACKNOWLEDGE);
        old.ready("ready");
        importAll(BY_TEXT);
        Delivery delivery = next(received);
        assertThat(delivery.id()).isEqualTo("ready");
        delivery.settle(Settlement.ACKNOWLEDGE);
        old.offer("pending", System.currentTimeMillis() + 300);
        importAll(BY_TEXT);
        assertThat(next(received).id()).isEqualTo("pending");
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
                ImportReport report = get(RedissonImport.into(queue)
                        .run(
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
}
