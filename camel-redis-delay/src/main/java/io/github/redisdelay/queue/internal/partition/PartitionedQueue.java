// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.command.Partitioned;
import io.github.redisdelay.queue.internal.command.RedisDelayQueue;
import io.github.redisdelay.queue.internal.consume.ConsumedPartition;
import io.github.redisdelay.queue.internal.consume.ConsumerStarter;
import io.github.redisdelay.queue.internal.format.ConsumerRows;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * A queue over several hash tags, which can grow past one Redis node. An id always belongs to the same partition: a call
 * about one message goes to that partition, and a call about all messages goes to every partition.
 */
public final class PartitionedQueue implements DelayQueue, Partitioned {

    private final List<RedisDelayQueue> partitions;
    private final PartitionCount count;
    private final MessageIdGenerator ids;
    private final ConsumerStarter starter;

    public PartitionedQueue(
            List<RedisDelayQueue> partitions, PartitionCount count, MessageIdGenerator ids, ConsumerStarter starter) {
        this.partitions = partitions;
        this.count = count;
        this.ids = ids;
        this.starter = starter;
    }

    @Override
    public String name() {
        return partitions.get(0).name();
    }

    @Override
    public String server() {
        return partitions.get(0).server();
    }

    @Override
    public List<RedisDelayQueue> partitions() {
        return partitions;
    }

    /** Lets calls pass that are made to its partitions. */
    public CallGate gate() {
        return count;
    }

    private boolean isDeadLetters() {
        return partitions.get(0).isDeadLetters();
    }

    /** The partition of a message, or of a dead letter if this is a queue of dead letters. */
    private RedisDelayQueue partition(String id) {
        ScheduleRequest.requireId(id, isDeadLetters());
        return isDeadLetters() ? ofDeadLetter(id) : partitions.get(PartitionHash.of(id, partitions.size()));
    }

    /** The partition of a dead letter. */
    private RedisDelayQueue ofDeadLetter(String id) {
        return partitions.get(PartitionHash.ofDeadLetter(id, partitions.size()));
    }

    @Override
    public DelayQueue deadLetters() {
        return new PartitionedQueue(
                partitions.stream().map(RedisDelayQueue::deadLetters).toList(), count, ids, starter);
    }

    @Override
    public <T> T together(Supplier<T> requests) {
        return partitions.get(0).together(requests);
    }

    @Override
    public Submission<ScheduleResult> schedule(ScheduleRequest message) {
        partitions.get(0).checkNoDeadLetters("schedule");
        // The partition follows from the id, so the id is generated here.
        String id = message.id() == null ? ids.next() : message.id();
        // A partition knows only its own messages: it has its share of a limit, rounded up.
        ScheduleRequest own = message.id() != null && message.maximumQueueLength() == 0
                ? message
                : new ScheduleRequest(
                        id,
                        message.due(),
                        message.body(),
                        message.onDuplicate(),
                        message.supersedes(),
                        message.priority(),
                        (message.maximumQueueLength() + partitions.size() - 1) / partitions.size());
        RedisDelayQueue partition = partition(id);
        return count.submit(() -> partition.schedule(own));
    }

    @Override
    public Submission<ChangeResult> cancel(String id) {
        RedisDelayQueue partition = partition(id);
        return count.submit(() -> partition.cancel(id));
    }

    @Override
    public Submission<ChangeResult> reschedule(String id, DueTime due) {
        RedisDelayQueue partition = partition(id);
        return count.submit(() -> partition.reschedule(id, due));
    }

    @Override
    public Submission<ChangeResult> promote(String id) {
        RedisDelayQueue partition = partition(id);
        return count.submit(() -> partition.promote(id));
    }

    @Override
    public Submission<RedriveOutcome> redrive(String deadLetterId, ClaimId held) {
        partitions.get(0).checkNoDeadLetters("redrive");
        ScheduleRequest.requireId(deadLetterId, true);
        RedisDelayQueue partition = ofDeadLetter(deadLetterId);
        return count.submit(() -> partition.redrive(deadLetterId, held));
    }

    @Override
    public Submission<Boolean> pause() {
        return ofAll(RedisDelayQueue::pause);
    }

    @Override
    public Submission<Boolean> resume() {
        return ofAll(RedisDelayQueue::resume);
    }

    /** Changes every partition. The answer says whether any of them was changed. */
    private Submission<Boolean> ofAll(Function<RedisDelayQueue, Submission<Boolean>> change) {
        return count.submit(() -> any(partitions.stream().map(change).toList()));
    }

    /** One answer for all partitions: whether any was changed. It is unconfirmed if nothing but waits has failed. */
    private Submission<Boolean> any(List<Submission<Boolean>> parts) {
        SubmissionPromise<Boolean> result = new SubmissionPromise<>();
        allOf(parts.stream().map(Submission::outcome).toList()).whenComplete((answers, failure) -> {
            Throwable refusal = parts.stream()
                    .filter(part -> !part.isUnconfirmed())
                    .flatMap(part -> error(part.outcome()).stream())
                    .findFirst()
                    .orElse(null);
            if (failure == null) {
                result.succeed(answers.contains(true));
            } else if (refusal != null) {
                result.fail(refusal);
            } else {
                result.unconfirmed((ReplicationTimeoutException) ErrorText.unwrap(failure), () -> confirm(parts));
            }
        });
        // A partition's outcome may come long after its request timeout, and callers wait no longer than that.
        parts.forEach(part -> part.result().whenComplete((changed, error) -> {
            if (error instanceof RequestTimeoutException) {
                result.result().completeExceptionally(error);
            }
        }));
        return result;
    }

    private CompletableFuture<Boolean> confirm(List<Submission<Boolean>> parts) {
        return count.ask(() -> allOf(parts.stream()
                        .map(part -> part.isUnconfirmed() ? part.confirm() : part.outcome())
                        .toList()))
                .thenApply(answers -> answers.contains(true));
    }

    private static Optional<Throwable> error(CompletableFuture<?> done) {
        return Optional.ofNullable(done.handle((value, error) -> error).join());
    }

    private static <T> CompletableFuture<List<T>> allOf(List<? extends CompletableFuture<T>> all) {
        return CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))
                .thenApply(done -> all.stream().<T>map(CompletableFuture::join).toList());
    }

    /** Asks all partitions at once. */
    private <T> CompletableFuture<List<T>> askAll(Function<RedisDelayQueue, CompletableFuture<T>> call) {
        return count.ask(() -> allOf(partitions.stream().map(call).toList()));
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> get(String id) {
        RedisDelayQueue partition = partition(id);
        return count.ask(() -> partition.get(id));
    }

    /** Looks where the dead letter lies: in the partition of its message, whose id is another one. */
    @Override
    public CompletableFuture<List<DeadLetterId>> deadLettersOf(String id) {
        partitions.get(0).checkNoDeadLetters("deadLettersOf");
        ScheduleRequest.requireId(id, true);
        RedisDelayQueue ofMessage = partitions.get(PartitionHash.of(id, partitions.size()));
        return count.ask(() -> RedisDelayQueue.deadLettersOf(id, ofDeadLetter(id), ofMessage));
    }

    /**
     * Merges a page of the next messages of each partition. A cursor is a score and an id, behind which every partition goes
     * on.
     */
    @Override
    public CompletableFuture<MessagePage> browse(MessageState state, PageStart from, int limit) {
        char list = RedisDelayQueue.list(state, limit, isDeadLetters());
        PageCursor behind = PageCursor.of(list, from);
        boolean newest = behind.newest();
        return askAll(partition -> partition.rows(state, behind, limit))
                .thenApply(
                        rows -> MessageRows.page(MessageRows.merge(rows, limit, newest), state, limit, list, newest));
    }

    @Override
    public CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit) {
        return sum(limit, (partition, left) -> partition.promoteAll(which, left));
    }

    @Override
    public CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit) {
        return sum(limit, (partition, left) -> partition.cancelAll(which, left));
    }

    @Override
    public CompletableFuture<Long> redriveAll(Predicate<MessageInfo> which, long limit) {
        partitions.get(0).checkNoDeadLetters("redriveAll");
        return sum(limit, (partition, left) -> partition.redriveAll(which, left));
    }

    /** Changes one partition after the other, each with what is left of the limit, and counts the changes. */
    private CompletableFuture<Long> sum(long limit, BiFunction<RedisDelayQueue, Long, CompletableFuture<Long>> change) {
        return oneByOne(
                0L, (sum, partition) -> change.apply(partition, limit - sum).thenApply(count -> sum + count));
    }

    /**
     * Calls one partition after the other, so that no two threads are in the caller's predicate at a time.
     *
     * @param step is given the result of the partitions before
     */
    private <T> CompletableFuture<T> oneByOne(T begin, BiFunction<T, RedisDelayQueue, CompletableFuture<T>> step) {
        return count.ask(() -> {
            CompletableFuture<T> done = CompletableFuture.completedFuture(begin);
            for (RedisDelayQueue partition : partitions) {
                done = done.thenCompose(before -> step.apply(before, partition));
            }
            return done;
        });
    }

    /** Drops the dead letters that are too old in each partition, and then the oldest ones of all partitions. */
    @Override
    public CompletableFuture<Long> trimDeadLetters(Duration retention, long maximum) {
        partitions.get(0).checkNoDeadLetters("trimDeadLetters");
        RedisDelayQueue.checkLimits(retention, maximum);
        CompletableFuture<Long> old = retention.isZero()
                ? CompletableFuture.completedFuture(0L)
                : sum(Long.MAX_VALUE, (partition, left) -> partition.trimDeadLetters(retention, 0));
        DelayQueue letters = deadLetters();
        return maximum == 0 ? old : old.thenCompose(dropped -> dropOldest(letters, maximum, dropped));
    }

    private CompletableFuture<Long> dropOldest(DelayQueue letters, long maximum, long before) {
        return letters.stats().thenCompose(stats -> {
            long excess = stats.delayed() - maximum;
            if (excess <= 0) {
                return CompletableFuture.completedFuture(before);
            }
            // The count is read after the page, so what others drop in between lowers it.
            int limit = (int) Math.min(excess, MAX_PAGE);
            return letters.browse(MessageState.DELAYED, PageStart.first(), limit)
                    .thenCompose(page -> letters.stats()
                            .thenCompose(now -> allOf(page.messages().stream()
                                    .limit(Math.max(0, now.delayed() - maximum))
                                    .map(letter -> drop(letter.id()))
                                    .toList())))
                    .thenCompose(drops -> {
                        long dropped = drops.stream().filter(done -> done).count();
                        long all = before + dropped;
                        return excess > limit && dropped > 0
                                ? dropOldest(letters, maximum, all)
                                : CompletableFuture.completedFuture(all);
                    });
        });
    }

    private CompletableFuture<Boolean> drop(String deadLetterId) {
        try {
            return ofDeadLetter(deadLetterId).deadLetters().cancelWaiting(deadLetterId);
        } catch (IllegalArgumentException e) {
            // An id that another client has written, and that this client's calls refuse.
            return CompletableFuture.completedFuture(false);
        }
    }

    @Override
    public CompletableFuture<CheckResult> check() {
        return oneByOne(new CheckResult(0, 0, 0, 0), (sum, partition) -> partition
                .check()
                .thenApply(found -> new CheckResult(
                        sum.messages() + found.messages(),
                        sum.restored() + found.restored(),
                        sum.bodiesMissing() + found.bodiesMissing(),
                        sum.recordsDropped() + found.recordsDropped())));
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return askAll(RedisDelayQueue::stats)
                .thenApply(
                        all -> all.stream().reduce(PartitionedQueue::together).orElseThrow());
    }

    /** The figures of two partitions, both of which know the same consumers. */
    private static QueueStats together(QueueStats one, QueueStats other) {
        return new QueueStats(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.delayed() + other.delayed(),
                one.overdue() + other.overdue(),
                one.leased() + other.leased(),
                one.dead() + other.dead(),
                Math.max(one.oldestOverdueMicros(), other.oldestOverdueMicros()),
                one.nextDueMicros() < 0 || other.nextDueMicros() < 0
                        ? Math.max(one.nextDueMicros(), other.nextDueMicros())
                        : Math.min(one.nextDueMicros(), other.nextDueMicros()),
                Math.max(one.consumers(), other.consumers()),
                // Paused if one is; since the first one.
                one.paused() && other.paused()
                        ? Math.min(one.pausedMicros(), other.pausedMicros())
                        : Math.max(one.pausedMicros(), other.pausedMicros()),
                Math.max(one.lastDueMicros(), other.lastDueMicros()),
                one.stored() + other.stored(),
                Math.max(one.lostMicros(), other.lostMicros()));
    }

    @Override
    public CompletableFuture<Outlook> outlook(List<Long> boundsMicros) {
        List<Long> bounds = List.copyOf(boundsMicros);
        RedisDelayQueue.checkBounds(bounds);
        return askAll(partition -> partition.outlook(bounds))
                .thenApply(
                        all -> all.stream().reduce(PartitionedQueue::together).orElseThrow());
    }

    private static Outlook together(Outlook one, Outlook other) {
        List<Long> counts = IntStream.range(0, one.counts().size())
                .mapToObj(i -> one.counts().get(i) + other.counts().get(i))
                .toList();
        return new Outlook(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.boundsMicros(),
                counts,
                one.before() + other.before(),
                one.after() + other.after());
    }

    @Override
    public CompletableFuture<List<ConsumerInfo>> consumers() {
        return askAll(RedisDelayQueue::consumerRows).thenApply(ConsumerRows::merge);
    }

    @Override
    public CompletableFuture<ServerInfo> serverInfo() {
        return askAll(RedisDelayQueue::serverInfo)
                .thenApply(
                        all -> all.stream().reduce(PartitionedQueue::together).orElseThrow());
    }

    /** The worse of two servers in each respect; they may be the same server. */
    private static ServerInfo together(ServerInfo one, ServerInfo other) {
        return new ServerInfo(
                one.product(),
                one.version().equals(other.version()) || one.version().endsWith(", " + other.version())
                        ? one.version()
                        : one.version() + ", " + other.version(),
                other.evicts() && !one.evicts() ? other.evictionPolicy() : one.evictionPolicy(),
                one.forgets() || other.forgets()
                        ? Boolean.FALSE
                        : one.appendOnly() == null ? null : other.appendOnly());
    }

    @Override
    public DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler) {
        return starter.consume(consumed(), this::stats, options, executor, handler);
    }

    @Override
    public DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener) {
        return starter.receiver(consumed(), options, listener);
    }

    private List<ConsumedPartition> consumed() {
        return partitions.stream().map(partition -> partition.consumed(count)).toList();
    }
}
