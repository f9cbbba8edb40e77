// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: sends the requests of concurrent callers in shared script calls, one call at a time, or two when many wait.
 *
 * <p>The first request goes at once; those that arrive while its call is under way go together in the next. So a lone
 * request pays one round trip and no timer, and a busy route a fraction of one. Requests about one id keep their order: what
 * follows one that is under way waits for its answer.
 *
 * <p>A call carries a name and a growing sequence number and is repeated, byte for byte, until Redis answers: the
 * script executes it once (see {@code session.lua}). Calls that are under way at the same time have different names.
 *
 * <p>Where a {@link Durability} is asked for, Redis waits for replicas or the disk once for each call. A call that did not get
 * as far in time is answered all the same: its requests have taken effect, and their callers are told so.
 */
final class Lane {

    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private static final byte[] ZERO = {'0'};

    static final int MAX_REQUESTS_PER_CALL = 256;
    static final int MAX_BYTES_PER_CALL = 1 << 20;
    static final int MAX_WAITING_REQUESTS = 16_384;
    static final long MAX_WAITING_BYTES = 64L << 20;

    /**
     * As many requests as this are worth a call of their own beside one that is under way, whose fixed cost is about that of 15
     * requests. With fewer, callers who wait share one call at a time: that was faster and cheaper than two of half the size.
     */
    private static final int WORTHWHILE = 64;

    /** Set while this thread completes callers' futures, of whatever lane. */
    private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

    private final String queue;
    /** What the calls are named that are under way at the same time. */
    private final byte[][] names;

    private final QueueKeys keys;
    private final Function<LuaScript, Object[]> header;
    private final RedisCaller redis;
    private final LongSupplier sequences;
    private final Timers timers;
    private final RandomGenerator random;
    /** Whether what Redis refuses for now (no memory, no permission) is tried again: true for acknowledgements. */
    private final boolean patient;

    private final Durability durability;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition roomAvailable = lock.newCondition();

    // All below are guarded by lock.
    private final ArrayDeque<Request<?>> waiting = new ArrayDeque<>();
    private long waitingBytes;
    /** The keys of the scripts that were called so far: to put their names together costs as much as ten messages. */
    private final Map<LuaScript, List<Object>> keysOf = new EnumMap<>(LuaScript.class);
    /** Left out of a call and to be told so, once the lock is free. */
    private final List<Request<?>> cancelled = new ArrayList<>();

    /** By the index of the name; null where there is none. */
    private final Call[] underWay;

    private Timers.Timer expiry;
    /** When {@link #expiry} is to fire. */
    private long expiryNanos;

    private DelayQueueException closed;
    private boolean retired;

    /** A call that was sent and is not answered; its bytes never change. */
    private static final class Call {
        /** The index of its name. */
        final int slot;

        final LuaScript script;
        final List<Request<?>> requests;
        final List<Object> keys;
        final Object[] arguments;
        // Changed only by the one thread that handles the outcome of the last sending.
        int attempts;
        Throwable lastError;
        /** Set while it waits to be sent again. Guarded by the lane's lock. */
        Timers.Timer resend;

        Call(int slot, LuaScript script, List<Request<?>> requests, List<Object> keys, Object[] arguments) {
            this.slot = slot;
            this.script = script;
            this.requests = requests;
            this.keys = keys;
            this.arguments = arguments;
        }
    }

    /**
     * @param queue the queue's name, for messages
     * @param names of the calls in Redis: the client's id and what tells them from its others; as many as there may be calls
     *     under way
     * @param header the arguments of a script between the sequence and the first request's
     * @param sequences growing numbers
     * @param patient whether what Redis refuses for now is tried again
     * @param durability how safe a call has to be before it counts as done
     */
    Lane(
            String queue,
            byte[][] names,
            QueueKeys keys,
            Function<LuaScript, Object[]> header,
            RedisCaller redis,
            LongSupplier sequences,
            Timers timers,
            RandomGenerator random,
            boolean patient,
            Durability durability) {
        this.queue = queue;
        this.names = names;
        this.underWay = new Call[names.length];
        this.keys = keys;
        this.header = header;
        this.redis = redis;
        this.sequences = sequences;
        this.timers = timers;
        this.random = random;
        this.patient = patient;
        this.durability = durability;
    }

    /** As {@link #submit(List, int)} with one; false if this lane was retired. */
    boolean submit(Request<?> request) {
        return submit(List.of(request), 0) == 1;
    }

    /**
     * Takes requests that go together: as many as one call can carry. Blocks while too many wait, until their deadline.
     *
     * @param from the index of the first one
     * @return the index behind the last one taken; {@code from} if this lane was {@link #retireIfIdle() retired}
     */
    int submit(List<Request<?>> requests, int from) {
        int next = from;
        long bytes = 0;
        Call call;
        List<Request<?>> withdrawn;
        lock.lock();
        try {
            // What waits for room while no call is under way would wait for itself: so no more than a call.
            while (next < requests.size() && next - from < MAX_REQUESTS_PER_CALL) {
                Request<?> request = requests.get(next);
                if (next > from && bytes + request.bytes() > MAX_BYTES_PER_CALL) {
                    break;
                }
                boolean room = retired || closed != null || waitForRoom(request);
                if (retired) {
                    break;
                }
                next++;
                if (closed != null) {
                    request.submission().fail(closed);
                } else if (room) {
                    bytes += request.bytes();
                    waiting.add(request);
                    waitingBytes += request.bytes();
                    armExpiry(request);
                }
            }
            call = nextCall();
            withdrawn = takeCancelled();
        } finally {
            lock.unlock();
        }
        send(call);
        withdraw(withdrawn);
        return next;
    }

    /** Waits until there is room, or fails the request. Holds the lock. */
    private boolean waitForRoom(Request<?> request) {
        if (patient) {
            return true; // bounded by the deliveries that are under way
        }
        boolean interrupted = false;
        try {
            // A caller that goes on from an answer is on a thread which must not wait: it would wait for itself. It
            // made
            // room just now, so it is let in beyond the bound, within another one.
            boolean inCallback = COMPLETING.get() != null;
            int factor = inCallback ? 2 : 1;
            while (closed == null
                    && (waiting.size() >= factor * MAX_WAITING_REQUESTS
                            || (waitingBytes + request.bytes() > factor * MAX_WAITING_BYTES && !waiting.isEmpty()))) {
                long left = inCallback ? 0 : request.deadlineNanos() - timers.nanoTime();
                if (left <= 0 || interrupted) {
                    request.submission()
                            .fail(new RequestTimeoutException(
                                    "queue '" + queue + "': " + waiting.size() + " requests (" + waitingBytes
                                            + " bytes) wait for Redis already; " + notSent(request)
                                            + because(lastError()),
                                    false,
                                    lastError()));
                    return false;
                }
                try {
                    roomAvailable.await(left, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Makes the next call of the requests that wait, if none is under way; or one beside that, if enough wait. Holds the lock.
     */
    private Call nextCall() {
        int slot = -1;
        Call other = null;
        for (int i = underWay.length - 1; i >= 0; i--) {
            if (underWay[i] == null) {
                slot = i;
            } else {
                other = underWay[i];
            }
        }
        if (slot < 0 || waiting.isEmpty() || (other != null && waiting.size() < WORTHWHILE)) {
            return null;
        }
        Set<String> busy = other == null ? Set.of() : ids(other);
        LuaScript script = null;
        List<Request<?>> requests = new ArrayList<>(Math.min(waiting.size(), MAX_REQUESTS_PER_CALL));
        int bytes = 0;
        while (requests.size() < MAX_REQUESTS_PER_CALL && !waiting.isEmpty()) {
            Request<?> request = waiting.peek();
            boolean isCancelled = request.submission().isCancelled();
            if (!isCancelled
                    && (busy.contains(request.id())
                            || (!requests.isEmpty()
                                    && (request.script() != script || bytes + request.bytes() > MAX_BYTES_PER_CALL)))) {
                break;
            }
            waiting.poll();
            waitingBytes -= request.bytes();
            if (isCancelled) {
                cancelled.add(request); // such as an extension whose delivery has finished meanwhile
                continue;
            }
            script = request.script();
            bytes += request.bytes();
            requests.add(request);
        }
        roomAvailable.signalAll();
        if (requests.isEmpty()) {
            return null;
        }
        Call call = new Call(
                slot,
                script,
                requests,
                keysOf.computeIfAbsent(script, keys::of),
                arguments(names[slot], header.apply(script), requests));
        underWay[slot] = call;
        return call;
    }

    private static Set<String> ids(Call call) {
        Set<String> ids = new HashSet<>(2 * call.requests.size());
        for (Request<?> request : call.requests) {
            ids.add(request.id());
        }
        return ids;
    }

    private Object[] arguments(byte[] name, Object[] head, List<Request<?>> requests) {
        int count = 2 + head.length;
        for (Request<?> request : requests) {
            count += request.arguments().length;
        }
        Object[] arguments = new Object[count];
        arguments[0] = name;
        arguments[1] = ascii(sequences.getAsLong());
        System.arraycopy(head, 0, arguments, 2, head.length);
        int at = 2 + head.length;
        for (Request<?> request : requests) {
            Object[] own = request.arguments();
            System.arraycopy(own, 0, arguments, at, own.length);
            at += own.length;
        }
        return arguments;
    }

    /** Takes those that were left out because they were cancelled. Holds the lock. */
    private List<Request<?>> takeCancelled() {
        if (cancelled.isEmpty()) {
            return List.of();
        }
        List<Request<?>> taken = List.copyOf(cancelled);
        cancelled.clear();
        return taken;
    }

    private void withdraw(List<Request<?>> requests) {
        for (Request<?> request : requests) {
            request.submission()
                    .fail(new CancellationException("queue '" + queue + "': message '" + request.id()
                            + "' was not sent, its request was cancelled"));
        }
    }

    private void send(Call call) {
        if (call != null) {
            call.attempts++;
            if (durability.waits()) {
                redis.callDurably(call.script, keys, call.arguments, call.attempts, durability)
                        .whenComplete((answer, error) -> answered(
                                call,
                                error == null ? answer.reply() : null,
                                error == null ? answer.shortfall() : null,
                                error));
            } else {
                redis.call(call.script, call.keys, call.arguments, call.attempts)
                        .whenComplete((reply, error) -> answered(call, reply, null, error));
            }
        }
    }

    /** @param shortfall what the call is short of, or null */
    private void answered(Call call, Object reply, Shortfall shortfall, Throwable failure) {
        Throwable error = failure == null ? null : RedisErrors.unwrap(failure);
        if (error == null && !(reply instanceof byte[])) {
            error = new DelayQueueException("unexpected reply of script " + call.script + ": " + reply);
        }
        if (error != null && !(patient ? RedisErrors.isPermanent(error) : RedisErrors.isRefusal(error))) {
            sendAgain(call, error);
            return;
        }
        Call next = null;
        List<Request<?>> withdrawn = List.of();
        lock.lock();
        try {
            if (underWay[call.slot] != call) {
                return; // the lane was closed and has failed these requests
            }
            if (waiting.size() >= WORTHWHILE) {
                // First the next call, then the callers: Redis is not kept waiting.
                underWay[call.slot] = null;
                next = nextCall();
                withdrawn = takeCancelled();
            }
        } finally {
            lock.unlock();
        }
        send(next);
        Throwable refusal = error;
        try {
            completing(() -> {
                if (refusal != null) {
                    refuse(call, refusal);
                } else {
                    complete(call, ByteBuffer.wrap((byte[]) reply).order(ByteOrder.LITTLE_ENDIAN), shortfall);
                }
            });
            withdraw(withdrawn);
        } finally {
            goOn(call);
        }
    }

    /** First the callers, then the next call, unless it was sent already: so it takes along what they ask for next. */
    private void goOn(Call call) {
        Call next;
        List<Request<?>> withdrawn;
        lock.lock();
        try {
            if (underWay[call.slot] != call) {
                return;
            }
            underWay[call.slot] = null;
            next = nextCall();
            withdrawn = takeCancelled();
        } finally {
            lock.unlock();
        }
        send(next);
        withdraw(withdrawn);
    }

    private void sendAgain(Call call, Throwable error) {
        lock.lock();
        try {
            if (underWay[call.slot] == call) {
                call.lastError = error;
                if (patient && call.attempts == 5) {
                    LOG.warn(
                            "queue '{}': acknowledgements wait, Redis has not accepted them {} times; trying on: {}",
                            queue,
                            call.attempts,
                            RedisErrors.text(error));
                } else if (call.attempts == 1) {
                    LOG.debug(
                            "queue '{}': {} is repeated until Redis answers: {}", queue, call.script, error.toString());
                }
                call.resend = timers.schedule(Backoff.nanos(call.attempts, random), () -> resend(call));
            }
        } finally {
            lock.unlock();
        }
    }

    private void resend(Call call) {
        lock.lock();
        try {
            if (underWay[call.slot] != call) {
                return;
            }
            call.resend = null;
        } finally {
            lock.unlock();
        }
        send(call);
    }

    /** Completes callers' futures, whose dependents run on this thread. */
    static void completing(Runnable completions) {
        Boolean outer = COMPLETING.get();
        COMPLETING.set(Boolean.TRUE);
        try {
            completions.run();
        } finally {
            if (outer == null) {
                COMPLETING.remove();
            }
        }
    }

    private void complete(Call call, ByteBuffer reply, Shortfall shortfall) {
        if (reply.remaining() != 8 + 9 * call.requests.size()) {
            refuse(
                    call,
                    new DelayQueueException("the reply of script " + call.script + " has " + reply.remaining()
                            + " bytes for " + call.requests.size() + " requests"));
            return;
        }
        long time = (long) reply.getDouble();
        for (Request<?> request : call.requests) {
            request.answer(queue, time, reply.get(), (long) reply.getDouble(), shortfall);
        }
    }

    private void refuse(Call call, Throwable error) {
        DelayQueueException exception;
        if (RedisErrors.isClosed(error)) {
            exception = new DelayQueueException(
                    "queue '" + queue + "': the Redis client was shut down; the request may have taken effect", error);
        } else if (call.attempts > 1) {
            // An earlier copy may still be on its way to a server that accepts it.
            exception = new RequestTimeoutException(
                    "queue '" + queue
                            + "': Redis refused a repeated request, an earlier copy of it may have taken effect: "
                            + RedisErrors.text(error),
                    true,
                    error);
        } else {
            exception = RedisErrors.refused(queue, error);
        }
        for (Request<?> request : call.requests) {
            request.submission().fail(exception);
        }
    }

    /** Sets the timer to the earliest deadline, after it has fired. Holds the lock. */
    private void armExpiry() {
        for (Call call : underWay) {
            if (call != null) {
                call.requests.stream()
                        .filter(request -> !request.submission().isDone())
                        .forEach(this::armExpiry);
            }
        }
        waiting.forEach(this::armExpiry);
    }

    /**
     * Sets the timer to a request's deadline, if it is not set to an earlier one. It stays set when the request is answered: to
     * set it anew for each call of a lone caller costs the timer's thread a wake-up. Holds the lock.
     */
    private void armExpiry(Request<?> request) {
        if (patient || (expiry != null && request.deadlineNanos() - expiryNanos >= 0)) {
            return;
        }
        disarmExpiry();
        expiryNanos = request.deadlineNanos();
        expiry = timers.schedule(Math.max(0, expiryNanos - timers.nanoTime()), this::expire);
    }

    private void disarmExpiry() {
        if (expiry != null) {
            expiry.cancel();
            expiry = null;
        }
    }

    /** Ends the wait of those whose deadline has passed: sent ones go on without them, the others are withdrawn. */
    private void expire() {
        List<Request<?>> unknown = new ArrayList<>();
        List<Request<?>> withdrawn = new ArrayList<>();
        Throwable cause;
        lock.lock();
        try {
            expiry = null;
            long now = timers.nanoTime();
            for (Call call : underWay) {
                if (call == null) {
                    continue;
                }
                for (Request<?> request : call.requests) {
                    if (request.deadlineNanos() - now <= 0
                            && !request.submission().isDone()) {
                        unknown.add(request);
                    }
                }
            }
            for (Iterator<Request<?>> i = waiting.iterator(); i.hasNext(); ) {
                Request<?> request = i.next();
                if (request.deadlineNanos() - now > 0) {
                    continue; // one behind it may have waited for room before
                }
                i.remove();
                waitingBytes -= request.bytes();
                withdrawn.add(request);
            }
            if (!withdrawn.isEmpty()) {
                roomAvailable.signalAll();
            }
            cause = lastError();
        } finally {
            lock.unlock();
        }
        completing(() -> end(unknown, withdrawn, because(cause), cause));
        lock.lock();
        try {
            armExpiry();
        } finally {
            lock.unlock();
        }
    }

    private void end(List<Request<?>> unknown, List<Request<?>> withdrawn, String because, Throwable cause) {
        for (Request<?> request : unknown) {
            request.submission()
                    .completeExceptionally(new RequestTimeoutException(
                            "queue '" + queue + "': " + redis.server() + " did not answer in time; "
                                    + perhapsDone(request) + because,
                            true,
                            cause));
        }
        for (Request<?> request : withdrawn) {
            request.submission()
                    .fail(new RequestTimeoutException(
                            "queue '" + queue + "': " + redis.server() + " did not answer in time; " + notSent(request)
                                    + because,
                            false,
                            cause));
        }
    }

    private static String notSent(Request<?> request) {
        return request.script() == LuaScript.SCHEDULE
                ? "message '" + request.id() + "' was not sent, nothing was stored"
                : request.change() + " was not sent, nothing was changed";
    }

    private static String perhapsDone(Request<?> request) {
        return request.script() == LuaScript.SCHEDULE
                ? "message '" + request.id() + "' may be stored: the same id can safely be sent again"
                : request.change() + " may have taken effect: it can safely be asked for again";
    }

    private static String because(Throwable error) {
        return error == null ? "" : " (" + RedisErrors.text(error) + ")";
    }

    /** Why the calls under way have no answer, if it is known. Holds the lock. */
    private Throwable lastError() {
        Throwable error = null;
        for (Call call : underWay) {
            if (call != null && call.lastError != null) {
                error = call.lastError;
            }
        }
        return error;
    }

    /** Holds the lock. */
    private boolean nothingToDo() {
        for (Call call : underWay) {
            if (call != null) {
                return false;
            }
        }
        return waiting.isEmpty();
    }

    boolean isIdle() {
        lock.lock();
        try {
            return nothingToDo();
        } finally {
            lock.unlock();
        }
    }

    /** Ends this lane if it has nothing to do; its successor goes on with higher sequence numbers. */
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

    /** Fails all requests that have no answer, and those to come. */
    void close(DelayQueueException reason) {
        List<Request<?>> failed;
        lock.lock();
        try {
            closed = reason;
            failed = new ArrayList<>(waiting);
            waiting.clear();
            waitingBytes = 0;
            for (Call call : underWay) {
                if (call != null) {
                    failed.addAll(call.requests);
                    if (call.resend != null) {
                        call.resend.cancel();
                    }
                }
            }
            Arrays.fill(underWay, null);
            disarmExpiry();
            roomAvailable.signalAll();
        } finally {
            lock.unlock();
        }
        for (Request<?> request : failed) {
            request.submission().fail(reason);
        }
    }

    /** A number as digits. Without a string on the way: there is one in each request. */
    static byte[] ascii(long number) {
        if (number <= 0) {
            // Nobody changes arguments.
            return number == 0 ? ZERO : Long.toString(number).getBytes(StandardCharsets.ISO_8859_1);
        }
        int length = 0;
        for (long rest = number; rest > 0; rest /= 10) {
            length++;
        }
        byte[] digits = new byte[length];
        for (long rest = number; rest > 0; rest /= 10) {
            digits[--length] = (byte) ('0' + rest % 10);
        }
        return digits;
    }
}
