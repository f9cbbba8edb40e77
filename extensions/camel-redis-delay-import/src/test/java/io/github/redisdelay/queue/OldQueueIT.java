// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportReport.Reason;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import io.github.redisdelay.imports.queue.RedissonImport;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;

/** A queue of Redisson's beside the test's queue, and short words for what tests do with both. */
abstract class OldQueueIT extends RealQueueIT {

    /** A message whose id is its text. */
    static final PayloadConverter BY_TEXT = payload -> new ConvertedPayload(payload, text(payload), 0);

    static final long FAR = 4_000_000_000_000L;

    OldQueue old;

    @BeforeEach
    void openOldQueue() {
        old = new OldQueue(redis.client(), redis.uniqueQueue());
    }

    CompletableFuture<ImportReport> start(PayloadConverter converter, ImportOptions options) {
        return RedissonImport.into(queue).run(new ImportSource(old.name), converter, options);
    }

    ImportReport importAll(PayloadConverter converter) {
        return get(start(converter, ImportOptions.EVERYTHING));
    }

    /** Everything that the queue holds, by id: when it is due. */
    Map<String, Long> dues() {
        Map<String, Long> dues = new TreeMap<>();
        String from = null;
        do {
            MessagePage page = get(queue.admin().list(MessageState.DELAYED, PageStart.next(from), QueueAdmin.MAX_PAGE));
            page.messages().forEach(message -> dues.put(message.id(), message.dueMicros()));
            from = page.next();
        } while (from != null);
        return dues;
    }

    List<String> inOrder() {
        return get(queue.admin().list(MessageState.DELAYED, PageStart.first(), QueueAdmin.MAX_PAGE)).messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    String left(ImportReport report, Reason reason) {
        return String.join("\n", report.left().get(reason).samples());
    }
}
