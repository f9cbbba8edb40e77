// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.GroupPage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;

/** The messages of a group. A handle that holds no state. */
record RedisMessageGroup(String name, RedisDelayQueue of) implements MessageGroup {

    @Override
    public DelayQueue queue() {
        return of;
    }

    @Override
    public CompletableFuture<MessagePage> list(String cursor, int limit) {
        if (limit < 1 || limit > QueueAdmin.MAX_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ": it must be from 1 to " + QueueAdmin.MAX_PAGE);
        }
        return page(cursor, limit).thenApply(GroupPage::page);
    }

    @Override
    public CompletableFuture<Long> count() {
        return page(null, 0).thenApply(GroupPage::count);
    }

    private CompletableFuture<GroupPage> page(String cursor, int limit) {
        PartitionAdmin one = new PartitionAdmin(of.partitions().get(0));
        return of.gate().ask(() -> one.group(name, cursor, limit));
    }

    @Override
    public CompletableFuture<Long> cancelAll(boolean schedules, boolean leased) {
        ChangeAction action = leased ? ChangeAction.CANCEL : ChangeAction.CANCEL_DELAYED;
        return changeAll(
                action,
                0,
                (info, now) -> (schedules || info.rule() == null) && (leased || info.state() != MessageState.LEASED));
    }

    @Override
    public CompletableFuture<Long> promoteAll(boolean schedules) {
        return changeAll(
                ChangeAction.PROMOTE,
                0,
                (info, now) -> (schedules || info.rule() == null)
                        && info.state() != MessageState.LEASED
                        && info.dueMicros() > now);
    }

    @Override
    public CompletableFuture<Long> rescheduleAll(DueTime due) {
        ChangeAction action = due.relative() ? ChangeAction.RESCHEDULE_AFTER : ChangeAction.RESCHEDULE_AT;
        return changeAll(
                action, due.micros(), (info, now) -> info.rule() == null && info.state() != MessageState.LEASED);
    }

    /** Finds all before it changes the first: a change moves a message to another place in the list. */
    private CompletableFuture<Long> changeAll(ChangeAction action, long micros, BiPredicate<MessageInfo, Long> which) {
        return found(null, which, new ArrayList<>()).thenCompose(all -> of.gate()
                .ask(() -> new PartitionAdmin(of.partitions().get(0)).changeAll(all, action, micros)));
    }

    private CompletableFuture<List<MessageInfo>> found(
            String cursor, BiPredicate<MessageInfo, Long> which, List<MessageInfo> all) {
        return page(cursor, QueueAdmin.MAX_PAGE).thenCompose(found -> {
            found.page().messages().stream()
                    .filter(info -> which.test(info, found.timeMicros()))
                    .forEach(all::add);
            return found.page().next() == null
                    ? CompletableFuture.completedFuture(all)
                    : found(found.page().next(), which, all);
        });
    }
}
