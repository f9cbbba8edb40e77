// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.Submission;
import java.util.List;
import java.util.function.Supplier;
import org.apache.camel.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations that pause and resume a queue, its dead letters, or a group.
 *
 * @param group the group that is meant; null for the queue
 */
record PauseOperation(ProducerSettings settings, DelayQueue queue, MessageGroup group) {

    private static final Logger LOG = LoggerFactory.getLogger(PauseOperation.class);

    /** @throws IllegalArgumentException if the message names a time, and no group is to be paused until then */
    PendingRequest send(RedisDelayOperation operation, Message message) {
        boolean dead = settings.state() == MessageScope.DEAD;
        DelayQueue target = dead ? queue.deadLetters() : queue;
        String label = StatsText.label(target, dead);
        boolean resume = operation == RedisDelayOperation.RESUME;
        DueTime until = ScheduleHeaders.due(message);
        // The option of an endpoint that does something else by default may be about its messages.
        if (until == null && settings.ownDue() && (settings.operation() == operation || group != null && !resume)) {
            until = settings.due();
        }
        if (until != null && (resume || group == null)) {
            throw new IllegalArgumentException("operation '" + operation
                    + (resume ? "' ends a pause at once" : "' of a whole queue has no end")
                    + ": remove 'delay' or 'deliverAt', as option or header"
                    + (resume ? "" : ", or name a group in header '" + RedisDelayConstants.GROUP + "'"));
        }
        DueTime end = until == null ? MessageGroup.UNTIL_RESUMED : until;
        String what = resume ? "resumed" : "paused";
        QueueAdmin admin = target.admin();
        return group == null
                ? change(label, what, () -> resume ? admin.resume() : admin.pause())
                : change(label, what, () -> resume ? group.resume() : group.pause(end));
    }

    private PendingRequest change(String label, String what, Supplier<Submission<Boolean>> call) {
        String of = group == null ? "" : ", group '" + group.name() + "'";
        PendingChange<Boolean> sent = PendingChange.send(
                null,
                () -> PendingChange.telling(call.get(), changed -> {
                    if (changed) {
                        LOG.info("{}{}: {} by an operation", label, of, what);
                    }
                }));
        return new PendingChanges<>(
                false, List.of(sent), (changes, message) -> message.setHeader(RedisDelayConstants.QUEUE, queue.name()));
    }
}
