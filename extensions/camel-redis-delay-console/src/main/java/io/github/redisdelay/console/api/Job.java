// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.exception.ShownId;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A change of many messages, under way or ended. It waits while Redis is unreachable, and goes on when Redis is back.
 */
final class Job {

    private static final Logger LOG = LoggerFactory.getLogger(Job.class);

    /** The wait before Redis is asked again. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);

    final String id;
    final ConsoleAction action;
    final String kind;
    final String queue;
    /** How many messages the user saw; null if nobody knows. */
    final Long found;

    final boolean stops;

    /** Counted by the one thread that is in the job at a time. */
    final AtomicLong done = new AtomicLong();

    volatile boolean stopped;
    // Written when it ends; endedNanos last.
    volatile String result;
    volatile String error;
    volatile Long endedNanos;

    /** Why it waits for Redis; null while it does not. Written by the one thread that is in the job at a time. */
    private volatile String waits;

    // Used by the one thread that is in the job at a time.
    private boolean interrupted;
    /**
     * The ids that were counted last, those of a whole page: nobody knows which of an interrupted page were changed.
     */
    private final Set<String> latest = new LinkedHashSet<>();

    Job(String id, ConsoleAction action, String kind, String queue, Long found, boolean stops) {
        this.id = id;
        this.action = action;
        this.kind = kind;
        this.queue = queue;
        this.found = found;
        this.stops = stops;
    }

    Jobs.View view() {
        boolean running = endedNanos == null;
        return new Jobs.View(
                id, kind, queue, done.get(), found, running, running ? waits : null, stopped, result, error);
    }

    /** Counts the messages that are wanted, each once; ends the change if somebody has stopped it. */
    Predicate<MessageInfo> counting(Predicate<MessageInfo> wanted) {
        return message -> {
            goesOn();
            if (stopped) {
                throw new CancellationException("stopped");
            }
            if (!wanted.test(message)) {
                return false;
            }
            if (latest.contains(message.id())) {
                return true;
            }
            if (found != null && done.get() >= found) {
                return !interrupted;
            }
            done.incrementAndGet();
            latest.add(message.id());
            if (latest.size() > QueueAdmin.MAX_PAGE) {
                latest.remove(latest.iterator().next());
            }
            return true;
        };
    }

    /**
     * Makes the change. When Redis has been away, it is made again for what is left.
     *
     * @return how many messages were changed; after an interruption, how many were chosen
     */
    CompletableFuture<Long> run(Supplier<CompletableFuture<Long>> change) {
        CompletableFuture<Long> changed = new CompletableFuture<>();
        attempt(change, changed);
        return changed;
    }

    private void attempt(Supplier<CompletableFuture<Long>> change, CompletableFuture<Long> result) {
        change.get().whenComplete((changed, failure) -> {
            if (failure == null) {
                goesOn();
                result.complete(interrupted ? Long.valueOf(done.get()) : changed);
            } else if (!isAway(failure)) {
                result.completeExceptionally(failure);
            } else {
                waits(failure);
                LATER.execute(() -> {
                    if (stopped) {
                        result.complete(done.get());
                    } else {
                        attempt(change, result);
                    }
                });
            }
        });
    }

    private void waits(Throwable failure) {
        if (waits == null) {
            LOG.warn(
                    "console: {} in queue '{}' waits for Redis after {} messages: {}",
                    kind,
                    queue,
                    done,
                    ShownId.of(Answers.text(failure)));
        }
        interrupted = true;
        waits = Answers.text(failure);
    }

    private void goesOn() {
        if (waits != null) {
            waits = null;
            LOG.info("console: {} in queue '{}' goes on: Redis answers again", kind, queue);
        }
    }

    /**
     * Returns what it did, in words.
     *
     * @param what became of the messages
     */
    String sentence(long changed, String what) {
        done.set(changed);
        String sentence = changed + (changed == 1 ? " message was " : " messages were ") + what;
        if (stopped) {
            return sentence + "; then it was stopped"
                    + (waits == null || latest.isEmpty()
                            ? "."
                            : " while Redis was unreachable: the last " + latest.size()
                                    + " of these may be unchanged.");
        }
        return sentence + "."
                + (found == null || changed >= found
                        ? ""
                        : " " + (found - changed)
                                + " fewer than you saw: they are gone, or were left because their id is in use or a"
                                + " consumer works on them.");
    }

    /** Returns whether Redis did not answer, or cannot do so for now: the same call may succeed later. */
    private static boolean isAway(Throwable failure) {
        Throwable error = ErrorText.unwrap(failure);
        Throwable cause = error instanceof DelayQueueException ours && ours.getClientError() != null
                ? ours.getClientError()
                : error;
        return error instanceof RequestTimeoutException
                || error instanceof ReplicationTimeoutException
                || cause instanceof TimeoutException
                // An answer of Redis is the class itself, and has no cause; a server that is loading or gone is
                // another.
                || cause instanceof RedisException
                        && (cause.getClass() != RedisException.class || cause.getCause() != null)
                        && !(cause instanceof RedisOutOfMemoryException)
                        && !(cause instanceof RedissonShutdownException);
    }
}
