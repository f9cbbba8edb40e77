// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import io.github.redisdelay.testkit.SentinelServers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** A failover takes back what was imported and not replicated, there and here alike: the next import moves it. */
@Tag("faults")
class ImportFailoverIT {

    private static final String QUEUE = "failover";
    private static final int MESSAGES = 6_000;
    /** From here on, the replica gets nothing. */
    private static final int REPLICATED = 2_000;

    private static final int MOVED_BY_THE_LOST_MASTER = 4_000;

    /** A message whose id is its text: one that came here twice would be renamed. */
    private static final PayloadConverter BY_TEXT =
            payload -> new ConvertedPayload(payload, new String(payload, StandardCharsets.UTF_8), 0);

    @Test
    void should_lose_nothing_and_move_nothing_twice_when_the_master_dies() throws Exception {
        try (SentinelServers servers = new SentinelServers()) {
            RedissonClient redisson = servers.connect();
            try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                Backlog.add(redisson, QUEUE, MESSAGES, 9, System.currentTimeMillis());
                SentinelServers.Node old = servers.master();
                SentinelServers.until(() -> servers.other(old).isLinked());
                DelayQueue queue = client.queue(QUEUE);
                AtomicLong moved = new AtomicLong();
                CompletableFuture<Void> died = new CompletableFuture<>();
                CompletableFuture<ImportReport> first = RedissonImport.into(queue)
                        .run(new ImportSource(QUEUE), BY_TEXT, ImportOptions.EVERYTHING.withGoOn(report -> {
                            moved.set(report.moved());
                            if (report.moved() >= REPLICATED) {
                                old.proxy.swallow(Kind.REPLICATION);
                            }
                            if (report.moved() >= MOVED_BY_THE_LOST_MASTER && !died.isDone()) {
                                old.server.kill();
                                died.complete(null);
                            }
                            return true;
                        }));
                died.get(1, TimeUnit.MINUTES);
                old.proxy.heal();
                servers.awaitFailover(old);
                first.handle((report, error) -> report).get(1, TimeUnit.MINUTES); // whether it failed or went on

                ImportReport second = again(queue);
                assertThat(moved.get() + second.moved() - MESSAGES)
                        .as("moved by the lost master, and again by the new one")
                        .isGreaterThan((MOVED_BY_THE_LOST_MASTER - REPLICATED) / 2);
                assertThat(second.renamed()).isZero();
                assertThat(second.remaining()).isZero();
                assertThat(redisson.getScoredSortedSet(Backlog.pendingKey(QUEUE), ByteArrayCodec.INSTANCE)
                                .size())
                        .isZero();
                assertThat(ids(queue))
                        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, MESSAGES)
                                .mapToObj(i -> String.format("%09d", i))
                                .toList());
            } finally {
                redisson.shutdown();
            }
        }
    }

    /** The import that the new master answers. */
    private static ImportReport again(DelayQueue queue) {
        AtomicReference<ImportReport> report = new AtomicReference<>();
        SentinelServers.until(() -> {
            report.set(RedissonImport.into(queue)
                    .run(new ImportSource(QUEUE), BY_TEXT, ImportOptions.EVERYTHING)
                    .get(1, TimeUnit.MINUTES));
            return true;
        });
        return report.get();
    }

    private static List<String> ids(DelayQueue queue) throws Exception {
        List<String> ids = new ArrayList<>();
        String from = null;
        do {
            MessagePage page = queue.admin()
                    .list(MessageState.DELAYED, PageStart.next(from), QueueAdmin.MAX_PAGE)
                    .get(10, TimeUnit.SECONDS);
            page.messages().stream().map(MessageInfo::id).forEach(ids::add);
            from = page.next();
        } while (from != null);
        return ids;
    }
}
