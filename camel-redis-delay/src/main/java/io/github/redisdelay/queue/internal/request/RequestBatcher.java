// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.EarliestTimer;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Group commit: sends the requests of concurrent callers in shared script calls, one call at a time, or two when many wait or
 * the network is slow.
 *
 * <p>The first request goes at once. Requests that arrive while its call is under way go together in the next call. So
 * a lone request pays one round trip and no timer, and a busy route pays a fraction of a round trip. Requests about one
 * id keep their order: a request waits until the one before it is answered.
 *
 * <p>Calls that are under way at the same time belong to different {@link Session sessions}. A call is repeated until Redis
 * answers, see {@link InFlightCall}.
 *
 * <p>Where a {@link Durability} is asked for, Redis waits for replicas or the disk once for each call. A call that is
 * not as safe in time is answered all the same: its requests have taken effect, and their callers are told so.
 */
public final class RequestBatcher {

    static final int MAX_REQUESTS_PER_CALL = 256;
    public static final int MAX_BYTES_PER_CALL = 1 << 20;
    public static final int MAX_WAITING_REQUESTS = 16_384;
    static final long MAX_WAITING_BYTES = 64L << 20;

    private final QueueAddress queue;
    private final RequestKind kind;
    /** The safety that a call needs before it counts as done. */
    private final Durability durability;

    private final ScriptExecutor redis;
    private final Request.Sender sender;
    private final Timers timers;
    private final Backoff backoff;
    private final Runnable used;
    private final RequestErrors errors;
    /** The sessions of the calls; as many calls may be under way at the same time. */
    private final List<Session> sessions;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition spaceAvailable = lock.newCondition();

    // All fields below are guarded by lock.

    private final WaitingRequests waiting = new WaitingRequests();
    /** The keys of the scripts that were called so far. To put their names together costs as much as ten messages. */
    private final Map<LuaScript, List<Object>> keysOf = new HashMap<>();
    /** The calls under way, by the index of the session; null where there is none. */
    private final InFlightCall[] underWay;

    private final CallPace pace = new CallPace();

    /**
     * For the earliest deadline. It stays set when the request is answered: to set it for each call of a lone caller would
     * wake the timer's thread each time.
     */
    private final EarliestTimer expiry;

    /** The reason why nothing is sent any more; null until this batcher is closed. */
    private DelayQueueException closed;

    private boolean retired;

    /**
     * @param durability the safety that a call needs before it counts as done
     * @param sender sends the further waits for calls that were not as safe in time
     * @param sessions those of the calls; as many calls may be under way at the same time
     * @param used runs when Redis has answered a call; must be cheap
     */
    public RequestBatcher(
            QueueAddress queue,
            RequestKind kind,
            Durability durability,
            ScriptExecutor redis,
            Request.Sender sender,
            Backoff backoff,
            List<Session> sessions,
            Runnable used) {
        this.queue = queue;
        this.kind = kind;
        this.durability = durability;
        this.redis = redis;
        this.sender = sender;
        this.timers = backoff.timers();
        this.backoff = backoff;
        this.used = used;
        this.expiry = new EarliestTimer(timers, this::expire);
        this.errors = new RequestErrors(queue, redis.server());
        this.sessions = sessions;
        this.underWay = new InFlightCall[sessions.size()];
    }

    /**
     * Takes requests that go together, as many as one call can carry. Blocks until their deadline while too many wait.
     *
     * @param from the index of the first one
     * @return the index behind the last one taken; {@code from} if this batcher was {@link #retireIfIdle() retired}
     */
    public int submit(List<Request<?>> requests, int from) {
        int next = from;
        long bytes = 0;
        List<Runnable> refusals = new ArrayList<>(0);
        Runnable after;
        lock.lock();
        try {
            // Takes at most one call's worth. The requests taken here are sent only after this loop, so a wait for
            // space for more would never end.
            while (next < requests.size() && next - from < MAX_REQUESTS_PER_CALL) {
                Request<?> request = requests.get(next);
                if (next > from && bytes + request.bytes() > MAX_BYTES_PER_CALL) {
                    break;
                }
                DelayQueueException noSpace = retired || closed != null ? null : waitForSpace(request);
                if (retired) {
                    break;
                }
                next++;
                DelayQueueException refusal = closed != null ? closed : noSpace;
                if (refusal != null) {
                    refusals.add(() -> request.submission().fail(refusal));
                } else {
                    bytes += request.bytes();
                    waiting.add(request);
                    armExpiry(request);
                }
            }
            after = next();
        } finally {
            lock.unlock();
        }
        after.run();
        refusals.forEach(Runnable::run);
        return next;
    }

    /**
     * Waits until there is space. Holds the lock.
     *
     * @return the error of the request if there is none in time; else null
     */
    private DelayQueueException waitForSpace(Request<?> request) {
        if (kind == RequestKind.DELIVERY) {
            return null; // the deliveries that are under way bound the number
        }
        // A thread that completes futures must not wait for space. It has made space just now, so its requests are
        // let in beyond the bound, up to twice as many.
        boolean mayWait = !CompletingThread.isCurrent();
        int factor = mayWait ? 1 : 2;
        try {
            while (closed == null && waiting.isFull(request, factor)) {
                long left = mayWait ? request.deadlineNanos() - timers.nanoTime() : 0;
                if (left <= 0) {
                    return errors.noSpace(request, waiting.size(), waiting.bytes(), lastError());
                }
                spaceAvailable.await(left, TimeUnit.NANOSECONDS);
            }
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return errors.noSpace(request, waiting.size(), waiting.bytes(), lastError());
        }
    }

    /**
     * Makes the next call of the waiting requests, if no call is under way, or if enough requests wait for a second
     * one. Holds the lock.
     */
    private InFlightCall nextCall() {
        int slot = -1;
        InFlightCall other = null;
        for (int i = underWay.length - 1; i >= 0; i--) {
            if (underWay[i] == null) {
                slot = i;
            } else {
                other = underWay[i];
            }
        }
        if (slot < 0 || waiting.size() == 0 || (other != null && waiting.ready() < pace.worthwhileForSecond())) {
            return null;
        }
        List<Request<?>> requests = waiting.take(other == null ? new HashSet<>() : other.messageIds());
        spaceAvailable.signalAll();
        if (requests.isEmpty()) {
            return null;
        }
        LuaScript script = requests.get(0).script();
        List<Object> keys = keysOf.computeIfAbsent(script, queue.keys()::of);
        Object[] arguments = InFlightCall.arguments(sessions.get(slot), script.head(queue.keys()), requests);
        InFlightCall call = new InFlightCall(slot, arguments, requests, kind, backoff) {
            @Override
            protected CompletableFuture<DurableReply> send(int attempt) {
                return durability.waits()
                        ? redis.callDurably(script(), queue.keys(), arguments(), attempt, durability)
                        : redis.call(script(), keys, arguments(), attempt)
                                .thenApply(reply -> new DurableReply(reply, null));
            }

            @Override
            protected void ended(DurableReply reply, Throwable refusal) {
                answered(this, reply, refusal);
            }
        };
        underWay[slot] = call;
        return call;
    }

    /**
     * Makes the next call, and collects the requests that were left out because they were cancelled. Holds the lock.
     *
     * @return sends the call and tells the cancelled; to be run without the lock
     */
    private Runnable next() {
        InFlightCall call = nextCall();
        List<Request<?>> leftOut = waiting.takeCancelled();
        return () -> {
            if (call != null) {
                call.start();
            }
            CompletingThread.run(
                    () -> leftOut.forEach(request -> request.submission().fail(errors.cancelled(request))));
        };
    }

    /**
     * Completes the callers of a call. Where many requests wait, the next call is sent first, so that Redis is not kept
     * waiting; otherwise it is sent afterwards, and takes along what they ask for next.
     */
    private void answered(InFlightCall call, DurableReply reply, Throwable refusal) {
        long nanos = call.ageNanos();
        if (!goOn(call, nanos, false)) {
            return; // the batcher was closed and has failed these requests
        }
        try {
            CompletingThread.run(() -> {
                if (refusal != null) {
                    call.refuse(refusal, errors);
                } else {
                    call.complete(reply, errors, sender);
                    used.run();
                }
            });
        } finally {
            goOn(call, nanos, true);
        }
    }

    /**
     * Sends the next call in place of an answered one. Before its callers are told, it does so only if many requests wait.
     *
     * @param nanos how long the answered one was under way
     * @param told true if its callers were told
     * @return false if the answered call has no place any more
     */
    private boolean goOn(InFlightCall answered, long nanos, boolean told) {
        Runnable after;
        lock.lock();
        try {
            if (underWay[answered.slot()] != answered) {
                return false;
            }
            if (!told) {
                pace.answered(
                        nanos,
                        waiting.size()
                                + calls().mapToInt(call -> call.requests().size())
                                        .sum());
                if (waiting.size() < CallPace.WORTHWHILE) {
                    return true;
                }
            }
            underWay[answered.slot()] = null;
            after = next();
        } finally {
            lock.unlock();
        }
        after.run();
        return true;
    }

    /** The requests under way whose callers have no outcome. Holds the lock. */
    private Stream<Request<?>> unanswered() {
        return calls().<Request<?>>flatMap(call -> call.requests().stream())
                .filter(request -> !request.submission().result().isDone());
    }

    /** The calls under way. Holds the lock. */
    private Stream<InFlightCall> calls() {
        return Arrays.stream(underWay).filter(Objects::nonNull);
    }

    /** Sets the timer to a request's deadline. Holds the lock. */
    private void armExpiry(Request<?> request) {
        if (kind != RequestKind.DELIVERY) {
            expiry.arm(request.deadlineNanos());
        }
    }

    /** Ends the requests whose deadline has passed. Those that were sent stay in their calls; the others are withdrawn. */
    private void expire() {
        List<Request<?>> unknown;
        List<Request<?>> withdrawn;
        Throwable cause;
        lock.lock();
        try {
            expiry.fired();
            long now = timers.nanoTime();
            // A request may have waited for space and have an earlier deadline than one before it.
            Predicate<Request<?>> isLate = request -> request.deadlineNanos() - now <= 0;
            unknown = unanswered().filter(isLate).toList();
            withdrawn = waiting.take(isLate);
            Stream.concat(unanswered().filter(isLate.negate()), waiting.stream())
                    .forEach(this::armExpiry);
            spaceAvailable.signalAll();
            cause = lastError();
        } finally {
            lock.unlock();
        }
        CompletingThread.run(() -> {
            unknown.forEach(
                    request -> request.submission().result().completeExceptionally(errors.unanswered(request, cause)));
            withdrawn.forEach(request -> request.submission().fail(errors.withdrawn(request, cause)));
        });
    }

    /** The reason why a call under way has no answer; null if none is known. Holds the lock. */
    private Throwable lastError() {
        return calls().map(InFlightCall::lastError)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** True if no call is under way and no request waits. Holds the lock. */
    private boolean nothingToDo() {
        return waiting.size() == 0 && calls().findAny().isEmpty();
    }

    boolean isIdle() {
        lock.lock();
        try {
            return nothingToDo();
        } finally {
            lock.unlock();
        }
    }

    /** Ends this batcher if it has nothing to do; its successor goes on with higher sequence numbers. */
    boolean retireIfIdle() {
        lock.lock();
        try {
            retired = retired || nothingToDo();
            if (retired) {
                expiry.cancel();
            }
            return retired;
        } finally {
            lock.unlock();
        }
    }

    /** Fails all requests that have no answer, and all that come later. */
    public void close(DelayQueueException reason) {
        List<Request<?>> failed = new ArrayList<>();
        lock.lock();
        try {
            closed = reason;
            failed.addAll(waiting.take(request -> true));
            calls().forEach(call -> {
                failed.addAll(call.requests());
                call.stop();
            });
            Arrays.fill(underWay, null);
            expiry.cancel();
            spaceAvailable.signalAll();
        } finally {
            lock.unlock();
        }
        failed.forEach(request -> request.submission().fail(reason));
    }
}
