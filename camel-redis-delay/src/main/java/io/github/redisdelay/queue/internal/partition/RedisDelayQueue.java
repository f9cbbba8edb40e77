// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.command.Partitioned;
import io.github.redisdelay.queue.internal.consume.ConsumedPartition;
import io.github.redisdelay.queue.internal.consume.ConsumerStarter;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** A queue of a client, over one or several partitions. A handle that holds no state. */
public final class RedisDelayQueue implements DelayQueue, Partitioned {

    private final Partitions partitions;
    private final MessageIdGenerator ids;
    private final ConsumerStarter starter;

    public RedisDelayQueue(Partitions partitions, MessageIdGenerator ids, ConsumerStarter starter) {
        this.partitions = partitions;
        this.ids = ids;
        this.starter = starter;
    }

    @Override
    public String name() {
        return partitions.first().name();
    }

    @Override
    public String server() {
        return partitions.first().router().server();
    }

    @Override
    public List<Partition> partitions() {
        return partitions.all();
    }

    /** Lets calls pass that are made to its partitions. */
    public CallGate gate() {
        return partitions.gate();
    }

    public MessageIdGenerator ids() {
        return ids;
    }

    @Override
    public QueueAdmin admin() {
        return new RedisQueueAdmin(partitions);
    }

    @Override
    public MessageGroup group(String name) {
        Partition one = partitions.ofGroup(name);
        return new RedisMessageGroup(name, new RedisDelayQueue(partitions.only(one), ids, starter));
    }

    @Override
    public DelayQueue deadLetters() {
        return new RedisDelayQueue(partitions.deadLetters(), ids, starter);
    }

    @Override
    public <T> T together(Supplier<T> requests) {
        return partitions.first().router().together(requests);
    }

    @Override
    public Submission<ScheduleResult> schedule(ScheduleRequest message) {
        partitions.checkNoDeadLetters("schedule");
        // The partition follows from the id, so the id is generated here.
        String id = message.id() == null ? ids.next() : message.id();
        long limit = partitions.share(message.maximumQueueLength());
        Partition one = message.group() == null ? partitions.of(id) : partitions.ofGroup(message.group());
        return partitions.gate().submit(() -> one.schedule(message, id, limit, ids.nowMicros()));
    }

    @Override
    public Submission<ChangeResult> cancel(String id) {
        return change(id, ChangeAction.CANCEL, 0);
    }

    @Override
    public Submission<ChangeResult> reschedule(String id, DueTime due) {
        return change(id, due.relative() ? ChangeAction.RESCHEDULE_AFTER : ChangeAction.RESCHEDULE_AT, due.micros());
    }

    @Override
    public Submission<ChangeResult> promote(String id) {
        return change(id, ChangeAction.PROMOTE, 0);
    }

    private Submission<ChangeResult> change(String id, ChangeAction action, long micros) {
        Partition one = partitions.of(id);
        return partitions.gate().submit(() -> one.change(id, action, micros));
    }

    @Override
    public Submission<RedriveOutcome> redrive(String deadLetterId, ClaimId held) {
        partitions.checkNoDeadLetters("redrive");
        Partition one = partitions.ofDeadLetter(deadLetterId);
        return partitions.gate().submit(() -> one.redrive(deadLetterId, held));
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> get(String id) {
        Partition one = partitions.of(id);
        return partitions.gate().ask(() -> one.get(id));
    }

    @Override
    public DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler) {
        CallGate gate =
                options.limits() == null ? partitions.gate() : new LimitGate(partitions, options.limits(), handler);
        return starter.consume(consumed(gate), admin()::stats, options, executor, handler);
    }

    @Override
    public DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener) {
        return starter.receiver(consumed(partitions.gate()), admin()::stats, options, listener);
    }

    private List<ConsumedPartition> consumed(CallGate gate) {
        return partitions.all().stream()
                .map(one -> new ConsumedPartition(one.address(), one, gate))
                .toList();
    }
}
