// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueStats;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A change of all delayed messages of a queue, page by page, each page when the one before is done. It ends behind the due time
 * that was the last one when it began. A message that others change meanwhile stays as they want it: each change is a step of
 * its own that looks at the message's state.
 */
final class BulkChange {

    private static final Logger LOG = LoggerFactory.getLogger(BulkChange.class);

    /** A limit for a queue in which others schedule without end: so many times the messages that waited at the beginning. */
    private static final int MAX_GROWTH = 10;

    private final PartitionAdmin queue;
    private final Predicate<MessageInfo> which;
    private final Function<MessageInfo, CompletableFuture<Boolean>> change;
    /** The last due time at the beginning. Messages behind it came later. */
    private final long endMicros;

    /** The most messages to change. */
    private final long limit;

    /** The number of messages that it may still look at: others may schedule more in between. */
    private long left;

    private long changed;

    /**
     * @param change completes with whether it did what was wanted
     */
    private BulkChange(
            PartitionAdmin queue,
            Predicate<MessageInfo> which,
            long limit,
            Function<MessageInfo, CompletableFuture<Boolean>> change,
            QueueStats stats) {
        this.queue = queue;
        this.which = which;
        this.limit = limit;
        this.change = change;
        this.endMicros = stats.lastDueMicros();
        this.left = MAX_GROWTH * stats.delayed();
    }

    /** Goes through a queue; completes with the number of changed messages. */
    static CompletableFuture<Long> of(
            PartitionAdmin queue,
            Predicate<MessageInfo> which,
            long limit,
            Function<QueueStats, Function<MessageInfo, CompletableFuture<Boolean>>> change) {
        return queue.stats()
                .thenCompose(stats -> new BulkChange(queue, which, limit, change.apply(stats), stats).page(null));
    }

    // The pages follow one another: no two threads are in here at a time.
    private CompletableFuture<Long> page(String from) {
        if (left <= 0 || limit <= 0) {
            if (endMicros > 0 && limit > 0) {
                LOG.warn(
                        "queue '{}': messages are scheduled faster than they are changed; it ends with {}",
                        queue.name(),
                        changed);
            }
            return CompletableFuture.completedFuture(changed);
        }
        int size = (int) Math.min(left, QueueAdmin.MAX_PAGE);
        return queue.page(from, size).thenCompose(page -> {
            left -= page.messages().size();
            List<MessageInfo> chosen;
            try {
                chosen = page.messages().stream().filter(which).toList();
            } catch (CancellationException e) {
                return CompletableFuture.completedFuture(changed);
            }
            return change(chosen).thenCompose(done -> {
                return changed >= limit || page.next() == null || isBehindEnd(page)
                        ? CompletableFuture.completedFuture(changed)
                        : page(page.next());
            });
        });
    }

    /** Changes messages of a page up to the limit. A message that others have changed meanwhile does not count towards it. */
    private CompletableFuture<Void> change(List<MessageInfo> chosen) {
        int now = (int) Math.min(chosen.size(), limit - changed);
        if (now <= 0) {
            return CompletableFuture.completedFuture(null);
        }
        List<CompletableFuture<Boolean>> changes =
                chosen.subList(0, now).stream().map(this::change).toList();
        return CompletableFuture.allOf(changes.toArray(new CompletableFuture<?>[0]))
                .thenCompose(done -> {
                    changed += changes.stream().filter(CompletableFuture::join).count();
                    return change(chosen.subList(now, chosen.size()));
                });
    }

    private boolean isBehindEnd(MessagePage page) {
        List<MessageInfo> messages = page.messages();
        return messages.isEmpty() || messages.get(messages.size() - 1).dueMicros() > endMicros;
    }

    private CompletableFuture<Boolean> change(MessageInfo message) {
        try {
            return change.apply(message);
        } catch (IllegalArgumentException e) {
            // No call can name this id, which another client has made. The other messages are changed all the same.
            LOG.warn("queue '{}': a message is left as it is: {}", queue.name(), e.getMessage());
            return CompletableFuture.completedFuture(false);
        }
    }
}
