// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.GroupPage;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

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
    public CompletableFuture<GroupInfo> info() {
        return page(null, 0).thenApply(page -> page.info(name));
    }

    @Override
    public Submission<Boolean> pause(DueTime until) {
        return pause(until.relative() ? ChangeAction.PAUSE_GROUP_AFTER : ChangeAction.PAUSE_GROUP_AT, until.micros());
    }

    @Override
    public Submission<Boolean> resume() {
        return pause(ChangeAction.RESUME_GROUP, 0);
    }

    private Submission<Boolean> pause(ChangeAction action, long micros) {
        if (of.partitions().get(0).isDeadLetters()) {
            throw new IllegalStateException("dead letters of queue '" + of.name() + "' have no groups to be paused");
        }
        return of.gate().submit(() -> admin().pause(name, action, micros));
    }

    private CompletableFuture<GroupPage> page(String cursor, int limit) {
        return of.gate().ask(() -> admin().group(name, cursor, limit));
    }

    private PartitionAdmin admin() {
        return new PartitionAdmin(of.partitions().get(0));
    }

    @Override
    public CompletableFuture<Long> cancelAll(boolean schedules, boolean leased) {
        return changeAll(
                leased ? ChangeAction.CANCEL : ChangeAction.CANCEL_DELAYED,
                null,
                info -> (schedules || info.rule() == null) && (leased || info.state() != MessageState.LEASED));
    }

    @Override
    public CompletableFuture<Long> promoteAll(boolean schedules) {
        return changeAll(
                ChangeAction.PROMOTE,
                DueTime.now(),
                info -> (schedules || info.rule() == null) && info.state() != MessageState.LEASED);
    }

    @Override
    public CompletableFuture<Long> rescheduleAll(DueTime due) {
        return changeAll(
                ChangeAction.RESCHEDULE_AT, due, info -> info.rule() == null && info.state() != MessageState.LEASED);
    }

    private CompletableFuture<Long> changeAll(ChangeAction action, DueTime due, Predicate<MessageInfo> which) {
        GroupChange change = new GroupChange(of.partitions().get(0), name, action, due, which);
        return of.gate().ask(() -> admin().durable(change.page(null)));
    }
}
