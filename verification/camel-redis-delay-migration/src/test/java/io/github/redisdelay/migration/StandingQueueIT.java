// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.ImportCodec;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.migration.Fleet.Member;
import io.github.redisdelay.migration.OldQueueProcess.Line;
import io.github.redisdelay.migration.OldQueueProcess.Role;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * A queue that stands still, since Redisson was updated across 3.21.1 while messages were pending, goes on after an
 * import.
 */
class StandingQueueIT {

    private static final String QUEUE = "standing";

    private static final int HOUR = 3_600_000;

    @TempDir
    Path folder;

    @Test
    void should_move_what_Redisson_cannot_transfer() throws Exception {
        try (Servers servers = Servers.single();
                Fleet fleet = new Fleet(folder, servers.addresses(), QUEUE)) {
            // In this order: two of the new release, one of the old one, and one of the new one.
            List<String> offered = new ArrayList<>();
            offered.addAll(offer(fleet, "4.7.0", 2));
            offered.addAll(offer(fleet, "3.20.1", 1));
            offered.addAll(offer(fleet, "4.7.0", 1));
            makeDue(servers.redisson());

            // It delivers the first ones again and again, and the others never.
            Member consumer = fleet.old("4.7.0", Role.CONSUME, "default");
            Fleet.until(() -> consumer.read().size() >= 4);
            consumer.end();
            assertThat(consumer.texts(Line.TAKEN)).containsOnly(offered.get(0), offered.get(1));
            assertThat(servers.failedScripts()).isPositive();

            DelayQueue queue = servers.client().queue(QUEUE);
            ImportReport report = Backlog.takeOver(queue, ImportCodec.KRYO5);
            assertThat(report.found().pending()).isEqualTo(4);
            assertThat(report.found().oldFormat()).isOne();
            assertThat(report.found().newFormat()).isEqualTo(3);
            assertThat(report.moved()).isEqualTo(4 + report.found().ready());
            assertThat(report.remaining()).isZero();
            assertThat(texts(queue)).contains(offered.toArray(String[]::new));
            assertThat(texts(queue).subList(0, 4)).isEqualTo(offered);
        }
    }

    private static List<String> offer(Fleet fleet, String release, int count) throws Exception {
        Member producer = fleet.old(release, Role.PRODUCE, "default", count, HOUR, HOUR);
        Fleet.until(() -> producer.texts(Line.OFFERED).size() == count);
        producer.end();
        return producer.texts(Line.OFFERED);
    }

    /** As if the hour had passed. */
    private static void makeDue(RedissonClient redisson) {
        RScoredSortedSet<byte[]> pending =
                redisson.getScoredSortedSet(Backlog.pendingKey(QUEUE), ByteArrayCodec.INSTANCE);
        pending.readAll().forEach(element -> pending.addScore(element, -HOUR));
    }

    /** The texts that the queue holds, by due time. */
    private static List<String> texts(DelayQueue queue) throws Exception {
        List<String> texts = new ArrayList<>();
        for (MessageInfo message : queue.admin()
                .list(MessageState.DELAYED, PageStart.first(), QueueAdmin.MAX_PAGE)
                .get(10, TimeUnit.SECONDS)
                .messages()) {
            byte[] body = queue.get(message.id())
                    .get(10, TimeUnit.SECONDS)
                    .orElseThrow()
                    .body();
            texts.add(new String(body, StandardCharsets.UTF_8));
        }
        return texts;
    }
}
