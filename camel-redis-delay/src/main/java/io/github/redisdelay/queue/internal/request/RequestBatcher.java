// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    /**
     * The number of waiting requests that is worth a second call beside the one under way. The fixed cost of a call is
     * about that of 15 requests. With fewer, one call at a time was measured to be faster and cheaper than two of half
     * the size.
     */
    private static final int WORTHWHILE = 64;

    /**
     * A call that took so long was on a network most of the time: next to Redis one of a few messages takes half of it. Callers who
     * come a little too late for such a call should not have to wait for its answer; see docs/performance.md.
     */
    private static final long SLOW_NETWORK_NANOS = 600_000;

    /** How many waiting requests a call passes over at most, because they are for another script or must keep their order. */
    private static final int MAX_PASSED_OVER = 4 * MAX_REQUESTS_PER_CALL;

    private final RequestChannel channel;
    private final RequestErrors errors;
    /** The sessions of the calls; as many calls may be under way at the same time. */
    private final List<Session> sessions;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition spaceAvailable = lock.newCondition();

    // All fields below are guarded by lock.

    private final ArrayDeque<Request<?>> waiting = new ArrayDeque<>();
    private long waitingBytes;
    /** How many of them waited when none could go beside the call under way; 0 if some could. They are not looked at again at once. */
    private int heldBack;
    /** The keys of the scripts that were called so far. To put their names together costs as much as ten messages. */
    private final Map<LuaScript, List<Object>> keysOf = new HashMap<>();
    /** Requests that were left out of a call. Their callers are told once the lock is free. */
    private final List<Request<?>> cancelled = new ArrayList<>();

    /** The calls under way, by the index of the session; null where there is none. */
    private final InFlightCall[] underWay;

    /** How long the call that was answered last was under way. */
    private long lastNanos;
    /** How many requests were under way or waiting when it was answered. */
    private int lastInPlay;

    /** The timer for the earliest deadline; null if it is not set. */
    private Timers.Timer expiry;
    /** The time at which {@link #expiry} is to fire. */
    private long expiryNanos;

    /** The reason why nothing is sent any more; null until this batcher is closed. */
    private DelayQueueException closed;

    private boolean retired;

    public RequestBatcher(RequestChannel channel, List<Session> sessions) {
        this.channel = channel;
        this.errors = channel.errors();
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
                    waitingBytes += request.bytes();
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
        if (channel.kind() == RequestKind.DELIVERY) {
            return null; // the deliveries that are under way bound the number
        }
        // A thread that completes futures must not wait for space. It has made space just now, so its requests are
        // let in beyond the bound, up to twice as many.
        boolean mayWait = !CompletingThread.isCurrent();
        int factor = mayWait ? 1 : 2;
        boolean interrupted = false;
        try {
            while (closed == null && isFull(request, factor)) {
                long left = mayWait ? request.deadlineNanos() - channel.timers().nanoTime() : 0;
                if (left <= 0 || interrupted) {
                    return errors.noSpace(request, waiting.size(), waitingBytes, lastError());
                }
                try {
                    spaceAvailable.await(left, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return null;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** True if the waiting requests fill their bounds, multiplied by a factor. Holds the lock. */
    private boolean isFull(Request<?> request, int factor) {
        return waiting.size() >= factor * MAX_WAITING_REQUESTS
                || (waitingBytes + request.bytes() > factor * MAX_WAITING_BYTES && !waiting.isEmpty());
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
        if (slot < 0 || waiting.isEmpty() || (other != null && waiting.size() - heldBack < worthwhileForSecond())) {
            return null;
        }
        List<Request<?>> requests = takeForCall(other == null ? new HashSet<>() : other.messageIds());
        spaceAvailable.signalAll();
        if (requests.isEmpty()) {
            return null;
        }
        LuaScript script = requests.get(0).script();
        InFlightCall call = new InFlightCall(
                channel,
                slot,
                script,
                keysOf.computeIfAbsent(script, channel.queue().keys()::of),
                InFlightCall.arguments(
                        sessions.get(slot), script.head(channel.queue().keys()), requests),
                requests,
                this::answered);
        underWay[slot] = call;
        return call;
    }

    /**
     * How many requests are worth a call beside another one. On a slow network two fifths of those in play are, so that two calls
     * of about the same size take turns, and neither waits for a caller who comes late. Holds the lock.
     */
    private int worthwhileForSecond() {
        return lastNanos < SLOW_NETWORK_NANOS ? WORTHWHILE : Math.min(WORTHWHILE, (2 * lastInPlay + 4) / 5);
    }

    /**
     * Takes the waiting requests that one call can carry: those for the script of the first one that may go. The others
     * stay in their order, and so does whatever is about the same message as one that stays or is under way. Holds the lock.
     *
     * @param held the messages of the call under way; those of the requests that stay are added
     */
    private List<Request<?>> takeForCall(Set<String> held) {
        LuaScript script = null;
        List<Request<?>> requests = new ArrayList<>(Math.min(waiting.size(), MAX_REQUESTS_PER_CALL));
        List<Request<?>> staying = new ArrayList<>(0);
        int bytes = 0;
        while (requests.size() < MAX_REQUESTS_PER_CALL && staying.size() < MAX_PASSED_OVER && !waiting.isEmpty()) {
            Request<?> request = waiting.peek();
            boolean isCancelled = request.submission().result().isCancelled();
            boolean stays = !isCancelled
                    && ((script != null && request.script() != script)
                            || (!held.isEmpty() && held.contains(request.messageId())));
            if (!isCancelled && !stays && !requests.isEmpty() && bytes + request.bytes() > MAX_BYTES_PER_CALL) {
                break;
            }
            waiting.poll();
            if (stays) {
                staying.add(request);
                held.add(request.messageId());
                continue;
            }
            waitingBytes -= request.bytes();
            if (isCancelled) {
                cancelled.add(request); // such as an extension whose delivery has finished meanwhile
                continue;
            }
            script = request.script();
            bytes += request.bytes();
            requests.add(request);
        }
        for (int i = staying.size() - 1; i >= 0; i--) {
            waiting.addFirst(staying.get(i));
        }
        heldBack = requests.isEmpty() ? waiting.size() : 0;
        return requests;
    }

    /**
     * Makes the next call, and collects the requests that were left out because they were cancelled. Holds the lock.
     *
     * @return sends the call and tells the cancelled; to be run without the lock
     */
    private Runnable next() {
        InFlightCall call = nextCall();
        List<Request<?>> leftOut = List.copyOf(cancelled);
        cancelled.clear();
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
                    call.refuse(refusal);
                } else {
                    call.complete(reply);
                    channel.used().run();
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
                lastNanos = nanos;
                lastInPlay = waiting.size();
                for (InFlightCall call : underWay) {
                    lastInPlay += call == null ? 0 : call.requests().size();
                }
                if (waiting.size() < WORTHWHILE) {
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

    /**
     * Sets the timer to a request's deadline, if it is not set to an earlier one. The timer stays set when the request
     * is answered, because setting it for each call of a lone caller would wake the timer's thread each time. Holds the
     * lock.
     */
    private void armExpiry(Request<?> request) {
        if (channel.kind() == RequestKind.DELIVERY || (expiry != null && request.deadlineNanos() - expiryNanos >= 0)) {
            return;
        }
        disarmExpiry();
        expiryNanos = request.deadlineNanos();
        expiry = channel.timers()
                .schedule(Math.max(0, expiryNanos - channel.timers().nanoTime()), this::expire);
    }

    private void disarmExpiry() {
        if (expiry != null) {
            expiry.cancel();
            expiry = null;
        }
    }

    /** Ends the requests whose deadline has passed. Those that were sent stay in their calls; the others are withdrawn. */
    private void expire() {
        List<Request<?>> unknown;
        List<Request<?>> withdrawn;
        Throwable cause;
        lock.lock();
        try {
            expiry = null;
            long now = channel.timers().nanoTime();
            // A request may have waited for space and have an earlier deadline than one before it.
            Predicate<Request<?>> isLate = request -> request.deadlineNanos() - now <= 0;
            unknown = unanswered().filter(isLate).toList();
            withdrawn = waiting.stream().filter(isLate).toList();
            waiting.removeIf(isLate);
            withdrawn.forEach(request -> waitingBytes -= request.bytes());
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
        return waiting.isEmpty() && calls().findAny().isEmpty();
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
                disarmExpiry();
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
            failed.addAll(waiting);
            waiting.clear();
            waitingBytes = 0;
            calls().forEach(call -> {
                failed.addAll(call.requests());
                call.abandon();
            });
            Arrays.fill(underWay, null);
            disarmExpiry();
            spaceAvailable.signalAll();
        } finally {
            lock.unlock();
        }
        failed.forEach(request -> request.submission().fail(reason));
    }
}
