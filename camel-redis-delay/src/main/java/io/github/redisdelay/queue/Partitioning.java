// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The number of partitions with which a client works with a queue, and whether Redis agrees (see {@code partitions.lua}). Lets
 * no call pass before it was asked, and asks again after a call was refused.
 */
final class Partitioning {

    private static final Logger LOG = LoggerFactory.getLogger(Partitioning.class);

    /** How many calls wait for the first answer. */
    private static final int MAX_WAITING = Lane.MAX_WAITING_REQUESTS;

    /** How often a client asks while others change the number. */
    private static final int MAX_ATTEMPTS = 10;

    private final DelayQueueClient client;
    private final String queue;
    private final int partitions;

    private final ReentrantLock lock = new ReentrantLock();
    // All below are guarded by lock. Read without it by those who only want to pass: it is set when nobody waits any
    // more.
    private volatile boolean entered;
    private boolean asking;
    /** Whether Redis has said what the number is: from then on these calls leave it as it is. */
    private boolean told;
    /** What waits to be let through, in order. */
    private final ArrayDeque<Call> waiting = new ArrayDeque<>();

    private record Call(Runnable goOn, Consumer<Throwable> fail) {}

    /** What a script call answered. */
    private record Reply(int answer, int partitions, long turn, Use use) {

        boolean done() {
            return answer != 0;
        }

        boolean opens() {
            return answer == 2;
        }
    }

    /** What uses a queue or some of its keys. */
    private record Use(long messages, long deadLetters, long remembered, long consumers, boolean paused) {

        static final Use NONE = new Use(0, 0, 0, 0, false);

        boolean isNone() {
            return equals(NONE);
        }

        /** Of two partitions of a queue, both of which know its consumers. */
        Use and(Use other) {
            return new Use(
                    messages + other.messages,
                    deadLetters + other.deadLetters,
                    remembered + other.remembered,
                    Math.max(consumers, other.consumers),
                    paused || other.paused);
        }

        @Override
        public String toString() {
            List<String> parts = new ArrayList<>();
            add(parts, messages, "messages");
            add(parts, deadLetters, "dead letters");
            add(parts, remembered, "remembered ids");
            add(parts, consumers, "consumers seen in the last 140 s");
            if (paused) {
                parts.add("a pause");
            }
            return String.join(", ", parts);
        }

        private static void add(List<String> parts, long number, String what) {
            if (number > 0) {
                parts.add(number + " " + what);
            }
        }
    }

    Partitioning(DelayQueueClient client, String queue, int partitions) {
        this.client = client;
        this.queue = queue;
        this.partitions = partitions;
    }

    int partitions() {
        return partitions;
    }

    /**
     * Makes a call once the number is known to be right, at once if it is; calls that have to wait keep their order.
     *
     * @param fail told if the number is wrong, or Redis does not say
     */
    void run(Runnable goOn, Consumer<Throwable> fail) {
        if (entered) {
            goOn.run();
            return;
        }
        boolean pass = false;
        boolean full = false;
        boolean ask = false;
        boolean again = false;
        lock.lock();
        try {
            if (entered) {
                pass = true;
            } else if (waiting.size() >= MAX_WAITING) {
                full = true;
            } else {
                waiting.add(new Call(goOn, fail));
                ask = !asking;
                asking = true;
                again = told;
            }
        } finally {
            lock.unlock();
        }
        if (pass) {
            goOn.run();
        } else if (full) {
            fail.accept(new RequestTimeoutException(
                    "queue '" + queue + "': " + MAX_WAITING
                            + " requests wait to learn how many partitions it has; nothing" + " was sent",
                    false,
                    null));
        } else if (ask) {
            enter(again ? 'v' : 'e', 0, 1)
                    .orTimeout(client.options().requestTimeout().toNanos(), TimeUnit.NANOSECONDS)
                    .whenComplete((done, error) -> Lane.completing(() -> answered(error)));
        }
    }

    /** The same for a call whose answer is one future. */
    <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> call) {
        if (entered) {
            return watched(call.get());
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        run(
                () -> {
                    try {
                        relay(watched(call.get()), result);
                    } catch (RuntimeException e) {
                        result.completeExceptionally(e);
                    }
                },
                result::completeExceptionally);
        return result;
    }

    /** The same for a request of a lane. */
    <T> Submission<T> submit(Supplier<Submission<T>> call) {
        if (entered) {
            Submission<T> submission = call.get();
            watched(submission);
            return submission;
        }
        Submission<T> result = new Submission<>();
        run(
                () -> {
                    Submission<T> submission;
                    try {
                        submission = call.get();
                    } catch (RuntimeException e) {
                        result.fail(e);
                        return;
                    }
                    watched(submission);
                    result.follow(submission);
                },
                result::fail);
        return result;
    }

    static <T> void relay(CompletableFuture<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, error) -> {
            if (error == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(RedisErrors.unwrap(error));
            }
        });
    }

    /** Notices if a call was refused. */
    private <T> CompletableFuture<T> watched(CompletableFuture<T> call) {
        call.whenComplete((value, error) -> {
            if (error != null && RedisErrors.unwrap(error) instanceof PartitionMismatchException) {
                refused();
            }
        });
        return call;
    }

    /** A script has refused a call: the next one asks again. */
    void refused() {
        lock.lock();
        try {
            entered = false;
        } finally {
            lock.unlock();
        }
    }

    private void answered(Throwable error) {
        while (true) {
            Call call;
            lock.lock();
            try {
                call = waiting.poll();
                if (call == null) {
                    asking = false;
                    entered = error == null;
                    told |= entered || RedisErrors.unwrap(error) instanceof PartitionMismatchException;
                    return;
                }
            } finally {
                lock.unlock();
            }
            if (error == null) {
                call.goOn().run();
            } else {
                call.fail().accept(explained(RedisErrors.unwrap(error)));
            }
        }
    }

    private Throwable explained(Throwable error) {
        return error instanceof TimeoutException
                ? new DelayQueueException(
                        "queue '" + queue + "': Redis did not say within "
                                + client.options().requestTimeout() + " how many partitions it has; nothing was sent",
                        error)
                : error;
    }

    /** Somebody begins to use the queue: from now on the number may be changed again, if nothing uses the queue. */
    CompletableFuture<Void> use() {
        CompletableFuture<Void> looked = entered
                ? home('v', 0, 0).thenAccept(reply -> {
                    if (!reply.done()) {
                        refused();
                    }
                })
                : CompletableFuture.completedFuture(null);
        return looked.thenCompose(done -> begin());
    }

    private CompletableFuture<Void> begin() {
        lock.lock();
        try {
            told &= entered;
        } finally {
            lock.unlock();
        }
        return ask(() -> CompletableFuture.completedFuture(null));
    }

    /**
     * Asks whether the number is right, and sets it if the queue is not used and this client may.
     *
     * @param action {@code e}, or {@code v} if this client has used the queue before
     * @param attempt from 1
     * @return fails with a {@link PartitionMismatchException} if the number is wrong
     */
    private CompletableFuture<Void> enter(char action, long met, int attempt) {
        return home(action, met, 0).thenCompose(reply -> {
            if (reply.done()) {
                // A partition that is closed nevertheless refuses its first call. So a client can begin while one is
                // away.
                return reply.opens() || action == 'v'
                        ? open(action, reply.turn(), attempt)
                        : CompletableFuture.completedFuture(null);
            }
            if (action == 'v' || reply.partitions() == 1 || reply.partitions() > Partitions.MAX) {
                return mismatch(reply.partitions(), reply.use());
            }
            return change(reply.partitions(), attempt);
        });
    }

    /** Somebody else has begun to change the number meanwhile, perhaps to the same one: asks again. */
    private CompletableFuture<Void> overtaken(char action, long met, int attempt) {
        if (attempt == MAX_ATTEMPTS) {
            return CompletableFuture.failedFuture(new DelayQueueException(
                    "queue '" + queue + "': its number of partitions is being changed by several clients"));
        }
        CompletableFuture<Void> result = new CompletableFuture<>();
        client.timers()
                .schedule(Backoff.nanos(1, client.random()), () -> relay(enter(action, met, attempt + 1), result));
        return result;
    }

    /** Looks now and then, without waiting for it: Redis may have lost the number, or somebody may have changed it. */
    void confirm() {
        if (!entered) {
            return;
        }
        home('r', 0, 0).thenAccept(reply -> {
            if (reply.done()) {
                return;
            }
            LOG.warn(
                    "queue '{}' is used with {} partitions here, and with {} somewhere: {}",
                    queue,
                    partitions,
                    reply.partitions(),
                    reply.use());
            if (reply.partitions() > 1) {
                // The scripts say so, unless a failover has lost that. One who strays without partitions stops nobody.
                refused();
            }
        });
    }

    /** Closes all partitions that there were until now, if nothing uses any of them, and opens the new ones. */
    private CompletableFuture<Void> change(int from, int attempt) {
        List<RedisDelayQueue> old = client.partitions(queue, from);
        return all(old, 'u', 0).thenCompose(looked -> {
            Use use = use(looked);
            if (!use.isNone()) {
                return mismatch(from, use);
            }
            long met = looked.stream().mapToLong(Reply::turn).max().orElse(0);
            return home('b', met, from)
                    .thenCompose(begun ->
                            begun.done() ? close(from, old, begun.turn(), attempt) : overtaken('e', 0, attempt));
        });
    }

    private CompletableFuture<Void> close(int from, List<RedisDelayQueue> old, long turn, int attempt) {
        return all(old, 'c', turn).thenCompose(closed -> {
            if (!closed.stream().allMatch(Reply::done)) {
                Use use = use(closed);
                return all(old, 'o', turn)
                        .thenCompose(opened -> use.isNone() ? overtaken('e', 0, attempt) : mismatch(from, use));
            }
            return home('f', turn, 0).thenCompose(changed -> {
                if (!changed.done()) {
                    return overtaken('e', 0, attempt);
                }
                LOG.info("queue '{}' has {} partitions from now on; it had {}", queue, partitions, from);
                return open('e', turn, attempt);
            });
        });
    }

    /** Ends a change. A queue without partitions is open as soon as its number says so. */
    private CompletableFuture<Void> open(char action, long turn, int attempt) {
        List<RedisDelayQueue> parts = partitions == 1 ? List.of() : client.partitions(queue, partitions);
        return all(parts, 'o', turn)
                .thenCompose(opened -> opened.stream().allMatch(Reply::done)
                        ? home('d', turn, 0).thenApply(done -> null)
                        : overtaken(
                                action,
                                opened.stream().mapToLong(Reply::turn).max().orElse(0),
                                attempt));
    }

    private <T> CompletableFuture<T> mismatch(int holds, Use use) {
        return CompletableFuture.failedFuture(new PartitionMismatchException(queue, holds, partitions, use.toString()));
    }

    private static Use use(List<Reply> replies) {
        return replies.stream().map(Reply::use).reduce(Use.NONE, Use::and);
    }

    private CompletableFuture<Reply> home(char action, long turn, int expected) {
        return call(client.home(queue), action, turn, expected);
    }

    private CompletableFuture<List<Reply>> all(List<RedisDelayQueue> parts, char action, long turn) {
        List<CompletableFuture<Reply>> calls =
                parts.stream().map(part -> call(part, action, turn, 0)).toList();
        return CompletableFuture.allOf(calls.toArray(new CompletableFuture<?>[0]))
                .thenApply(done -> calls.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<Reply> call(RedisDelayQueue part, char action, long turn, int expected) {
        return client.calls()
                .untilAnswered(
                        part.address(),
                        LuaScript.PARTITIONS,
                        new byte[] {(byte) action},
                        Lane.ascii(partitions),
                        Lane.ascii(turn),
                        Lane.ascii(expected))
                .thenApply(bytes -> {
                    ByteBuffer reply = ByteBuffer.wrap((byte[]) bytes).order(ByteOrder.LITTLE_ENDIAN);
                    return new Reply(
                            (int) reply.getDouble(),
                            (int) reply.getDouble(),
                            (long) reply.getDouble(),
                            new Use(
                                    (long) reply.getDouble(),
                                    (long) reply.getDouble(),
                                    (long) reply.getDouble(),
                                    (long) reply.getDouble(),
                                    reply.getDouble() != 0));
                });
    }
}
