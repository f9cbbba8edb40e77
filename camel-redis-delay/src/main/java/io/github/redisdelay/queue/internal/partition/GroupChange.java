// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A change of all messages of a group, page by page, each page when the one before is done. A change moves messages in the list of
 * the group. So each step also reads the beginning of the list, where a message is that got a place meanwhile; and behind the end
 * it begins anew, until it finds nothing to change. New due times are one microsecond apart, so that messages stay in order. Each
 * message is changed once, as it may fail and wait for its retry meanwhile.
 */
final class GroupChange {

    private static final Logger LOG = LoggerFactory.getLogger(GroupChange.class);

    /** How many are read again at the beginning. Where messages have an order, one has a place, and few are leased or failed. */
    private static final int BEGINNING = 8;

    /** A limit for a group in which others schedule without end: so many times the messages that it had at the beginning. */
    private static final int MAX_GROWTH = 10;

    private final Partition partition;
    private final String group;
    private final ChangeAction action;
    private final DueTime due;
    private final Predicate<MessageInfo> which;

    // The pages follow one another: no two threads are in here at a time.
    private final Set<String> seen = new HashSet<>();
    private long baseMicros = -1;
    private long left;
    private long sent;
    private long changed;
    private long changedBefore;

    /** @param due the new due time; null if the change gives none */
    GroupChange(Partition partition, String group, ChangeAction action, DueTime due, Predicate<MessageInfo> which) {
        this.partition = partition;
        this.group = group;
        this.action = action;
        this.due = due;
        this.which = which;
    }

    /**
     * Changes what is behind a position; completes with the number of changed messages.
     *
     * @param from null for all
     */
    CompletableFuture<Long> page(String from) {
        PartitionAdmin queue = new PartitionAdmin(partition);
        return queue.group(group, null, BEGINNING).thenCompose(beginning -> {
            if (baseMicros < 0) {
                long begin = due != null && due.relative() ? beginning.timeMicros() : 0;
                baseMicros = due == null ? 0 : new DueTime(false, begin + due.micros()).micros();
                left = MAX_GROWTH * beginning.count();
            }
            return queue.group(group, from, QueueAdmin.MAX_PAGE).thenCompose(page -> {
                left -= page.page().messages().size();
                List<String> ids = Stream.of(beginning, page)
                        .flatMap(each -> each.page().messages().stream())
                        .filter(each -> group.equals(each.group()) // the list may be older than a message of that id
                                && which.test(each)
                                && (action != ChangeAction.PROMOTE || each.dueMicros() > baseMicros)
                                && seen.add(each.id()))
                        .map(MessageInfo::id)
                        .toList();
                return change(ids).thenCompose(done -> next(page.page().next()));
            });
        });
    }

    private CompletableFuture<Long> next(String from) {
        if (left <= 0 || from == null && changed == changedBefore) {
            return CompletableFuture.completedFuture(changed);
        }
        changedBefore = from == null ? changed : changedBefore;
        return page(from);
    }

    private CompletableFuture<Void> change(List<String> ids) {
        List<CompletableFuture<ChangeResult>> changes = ids.stream()
                .map(id -> {
                    long micros = due == null ? 0 : Math.min(baseMicros + sent++, DueTime.MAX_MICROS);
                    try {
                        return partition.change(id, action, micros).result();
                    } catch (IllegalArgumentException e) {
                        // No call can name this id, which another client has made. The others are changed all the same.
                        LOG.warn("queue '{}': a message is left as it is: {}", partition.name(), e.getMessage());
                        return CompletableFuture.completedFuture(new ChangeResult(id, MessageState.NONE, 0));
                    }
                })
                .toList();
        return CompletableFuture.allOf(changes.toArray(new CompletableFuture<?>[0]))
                .thenAccept(done -> changed += changes.stream()
                        .map(change -> change.join().previousState())
                        .filter(state -> state == MessageState.DELAYED
                                || state == MessageState.LEASED && action == ChangeAction.CANCEL)
                        .count());
    }
}
