// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * The partitions of a queue, of which most queues have one. A call goes to one partition, which follows from an id, or to all
 * of them, and their answers are merged.
 */
public final class Partitions {

    private final List<Partition> all;
    private final CallGate gate;

    /** @param gate lets the calls pass */
    public Partitions(List<Partition> all, CallGate gate) {
        this.all = all;
        this.gate = gate;
    }

    List<Partition> all() {
        return all;
    }

    CallGate gate() {
        return gate;
    }

    Partition first() {
        return all.get(0);
    }

    Partitions deadLetters() {
        checkNoDeadLetters("deadLetters");
        return new Partitions(all.stream().map(Partition::deadLetters).toList(), gate);
    }

    void checkNoDeadLetters(String operation) {
        if (first().isDeadLetters()) {
            throw new IllegalStateException("queue '" + first().name() + "': " + operation
                    + " is a call to the queue, not to its dead letters");
        }
    }

    /** Refuses limits of a whole queue whose partitions would not know of each other's deliveries. */
    void checkLimits(QueueLimits limits) {
        if (all.size() > 1 && (limits.rate() != null || limits.queueConcurrency() > 0)) {
            throw new IllegalArgumentException((limits.rate() == null
                            ? "queueConcurrency is " + limits.queueConcurrency()
                            : "rate is " + limits.rate())
                    + ": a queue with partitions has limits of its groups only");
        }
    }

    /** The share of each partition in a limit of the queue, rounded up, because it knows only its own messages. */
    long share(long limit) {
        return (limit + all.size() - 1) / all.size();
    }

    /** The partition of a message, or of a dead letter if these are dead letters. */
    Partition of(String id) {
        return first().isDeadLetters() ? ofDeadLetter(id) : ofMessage(id, false);
    }

    /** The partition of a dead letter, which is that of its message. */
    Partition ofDeadLetter(String id) {
        return ofMessage(DeadLetterId.messageIdOf(ScheduleRequest.requireId(id, true)), true);
    }

    /** @param longId whether the id may be as long as that of a dead letter */
    Partition ofMessage(String id, boolean longId) {
        return all.size() == 1 ? first() : all.get(PartitionHash.of(ScheduleRequest.requireId(id, longId), all.size()));
    }

    /** The partition of a group's messages, which is none of their ids'. */
    Partition ofGroup(String group) {
        ScheduleRequest.requireGroup(group);
        return all.size() == 1 ? first() : all.get(PartitionHash.of(group, all.size()));
    }

    /** The queue that is one of these partitions. */
    Partitions only(Partition one) {
        return all.size() == 1 ? this : new Partitions(List.of(one), gate);
    }

    /** Sends a request to all partitions. The answer says whether any was changed; see {@link #any(List)}. */
    Submission<Boolean> submitToAll(Function<Partition, Submission<Boolean>> request) {
        return gate.submit(() -> all.size() == 1
                ? request.apply(first())
                : any(all.stream().map(request).toList()));
    }

    /** Asks all partitions at once. */
    <T> CompletableFuture<List<T>> askAll(Function<PartitionAdmin, CompletableFuture<T>> call) {
        return gate.ask(
                () -> allOf(all.stream().map(PartitionAdmin::new).map(call).toList()));
    }

    /** Asks all partitions at once, and makes one answer of two until there is one. */
    <T> CompletableFuture<T> merged(Function<PartitionAdmin, CompletableFuture<T>> call, BinaryOperator<T> merge) {
        return askAll(call).thenApply(answers -> answers.stream().reduce(merge).orElseThrow());
    }

    /**
     * Calls one partition after the other, so that no two threads are in the caller's predicate at a time.
     *
     * @param step is given the result of the partitions before
     */
    <T> CompletableFuture<T> inTurn(T begin, BiFunction<T, PartitionAdmin, CompletableFuture<T>> step) {
        return gate.ask(() -> {
            CompletableFuture<T> done = CompletableFuture.completedFuture(begin);
            for (Partition partition : all) {
                done = done.thenCompose(before -> step.apply(before, new PartitionAdmin(partition)));
            }
            return done;
        });
    }

    /** One answer for all partitions: whether any was changed. It is unconfirmed if nothing but waits has failed. */
    private Submission<Boolean> any(List<Submission<Boolean>> parts) {
        SubmissionPromise<Boolean> result = new SubmissionPromise<>();
        allOf(parts.stream().map(Submission::outcome).toList()).whenComplete((answers, failure) -> {
            Throwable refusal = parts.stream()
                    .flatMap(part -> error(part.outcome()).stream())
                    .filter(error -> !(error instanceof ReplicationTimeoutException))
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
        return gate.ask(() -> allOf(parts.stream()
                        .map(part -> part.isUnconfirmed() ? part.confirm() : part.outcome())
                        .toList()))
                .thenApply(answers -> answers.contains(true));
    }

    private static Optional<Throwable> error(CompletableFuture<?> done) {
        return Optional.ofNullable(done.handle((value, error) -> error == null ? null : ErrorText.unwrap(error))
                .join());
    }

    static <T> CompletableFuture<List<T>> allOf(List<? extends CompletableFuture<T>> all) {
        return CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))
                .thenApply(done -> all.stream().<T>map(CompletableFuture::join).toList());
    }
}
