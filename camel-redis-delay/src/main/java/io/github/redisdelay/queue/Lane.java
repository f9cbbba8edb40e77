// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 * Group commit: sends the requests of concurrent callers in shared script calls, one call at a time.
 *
 * <p>The first request goes at once; those that arrive while its call is under way go together in the next. So a lone
 * request pays one round trip and no timer, and a busy route a fraction of one. The order of requests is kept.
 *
 * <p>A call carries the lane and a growing sequence number and is repeated, byte for byte, until Redis answers: the
 * script executes it once (see {@code call.lua}).
 */
final class Lane {

    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private static final byte[] ZERO = {'0'};

    static final int MAX_REQUESTS_PER_CALL = 256;
    static final int MAX_BYTES_PER_CALL = 1 << 20;
    static final int MAX_WAITING_REQUESTS = 16_384;
    static final long MAX_WAITING_BYTES = 64L << 20;

    /** Set while this thread completes callers' futures, of whatever lane. */
    private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

    private final String queue;
    private final byte[] name;
    private final QueueKeys keys;
    private final Function<LuaScript, Object[]> header;
    private final RedisCaller redis;
    private final LongSupplier sequences;
    private final Timers timers;
    private final RandomGenerator random;
    /** Whether what Redis refuses for now (no memory, no permission) is tried again: true for acknowledgements. */
    private final boolean patient;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition roomAvailable = lock.newCondition();

    // All below are guarded by lock.
    private final ArrayDeque<Request<?>> waiting = new ArrayDeque<>();
    private long waitingBytes;
    /** The keys of the scripts that were called so far: to put their names together costs as much as ten messages. */
    private final Map<LuaScript, List<Object>> keysOf = new EnumMap<>(LuaScript.class);
    /** Left out of a call and to be told so, once the lock is free. */
    private final List<Request<?>> cancelled = new ArrayList<>();

    private Call underWay;
    private Timers.Timer expiry;
    /** When {@link #expiry} is to fire. */
    private long expiryNanos;

    private Timers.Timer resend;
    private DelayQueueException closed;
    private boolean retired;

    /** A call that was sent and is not answered; its bytes never change. */
    private static final class Call {
        final LuaScript script;
        final List<Request<?>> requests;
        final List<Object> keys;
        final Object[] arguments;
        // Changed only by the one thread that handles the outcome of the last sending.
        int attempts;
        Throwable lastError;

        Call(LuaScript script, List<Request<?>> requests, List<Object> keys, Object[] arguments) {
            this.script = script;
            this.requests = requests;
            this.keys = keys;
            this.arguments = arguments;
        }
    }

    /**
     * @param queue the queue's name, for messages
     * @param name the lane's name in Redis: the client's id and what tells this lane from its others
     * @param header the arguments of a script between the sequence and the first request's
     * @param sequences growing numbers
     * @param patient whether what Redis refuses for now is tried again
     */
    Lane(
            String queue,
            byte[] name,
            QueueKeys keys,
            Function<LuaScript, Object[]> header,
            RedisCaller redis,
            LongSupplier sequences,
            Timers timers,
            RandomGenerator random,
            boolean patient) {
        this.queue = queue;
        this.name = name;
        this.keys = keys;
        this.header = header;
        this.redis = redis;
        this.sequences = sequences;
        this.timers = timers;
        this.random = random;
        this.patient = patient;
    }

    /**
     * Takes a request. Blocks while too many wait, until the request's deadline.
     *
     * @return false if this lane was {@link #retireIfIdle() retired}: then the request goes to its successor
     */
    boolean submit(Request<?> request) {
        Call call;
        List<Request<?>> withdrawn;
        lock.lock();
        try {
            if (!retired && closed == null && !waitForRoom(request)) {
                return true;
            }
            if (retired) {
                return false; // perhaps while it waited for room
            }
            if (closed != null) {
                request.submission().fail(closed);
                return true;
            }
            waiting.add(request);
            waitingBytes += request.bytes();
            armExpiry(request);
            call = nextCall();
            withdrawn = takeCancelled();
        } finally {
            lock.unlock();
        }
        send(call);
        withdraw(withdrawn);
        return true;
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
                                            + " bytes) wait for Redis already; " + notSent(request) + because(underWay),
                                    false,
                                    underWay == null ? null : underWay.lastError));
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

    /** Makes the next call of the requests that wait, if none is under way. Holds the lock. */
    private Call nextCall() {
        if (underWay != null || waiting.isEmpty()) {
            return null;
        }
        LuaScript script = null;
        List<Request<?>> requests = new ArrayList<>(Math.min(waiting.size(), MAX_REQUESTS_PER_CALL));
        int bytes = 0;
        while (requests.size() < MAX_REQUESTS_PER_CALL && !waiting.isEmpty()) {
            Request<?> request = waiting.peek();
            boolean isCancelled = request.submission().isCancelled();
            if (!isCancelled
                    && !requests.isEmpty()
                    && (request.script() != script || bytes + request.bytes() > MAX_BYTES_PER_CALL)) {
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
        underWay = new Call(
                script, requests, keysOf.computeIfAbsent(script, keys::of), arguments(header.apply(script), requests));
        return underWay;
    }

    private Object[] arguments(Object[] head, List<Request<?>> requests) {
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
            redis.call(call.script, call.keys, call.arguments, call.attempts)
                    .whenComplete((reply, error) -> answered(call, reply, error));
        }
    }

    private void answered(Call call, Object reply, Throwable failure) {
        Throwable error = failure == null ? null : RedisErrors.unwrap(failure);
        if (error == null && !(reply instanceof byte[])) {
            error = new DelayQueueException("unexpected reply of script " + call.script + ": " + reply);
        }
        if (error != null && !(patient ? RedisErrors.isPermanent(error) : RedisErrors.isRefusal(error))) {
            sendAgain(call, error);
            return;
        }
        Call next;
        List<Request<?>> withdrawn;
        lock.lock();
        try {
            if (underWay != call) {
                return; // the lane was closed and has failed these requests
            }
            underWay = null;
            next = nextCall();
            withdrawn = takeCancelled();
            if (next == null) {
                disarmExpiry();
            }
        } finally {
            lock.unlock();
        }
        // First the next call, then the callers, so that Redis is not kept waiting.
        send(next);
        Throwable refusal = error;
        complete(() -> {
            if (refusal != null) {
                refuse(call, refusal);
            } else {
                complete(call, ByteBuffer.wrap((byte[]) reply).order(ByteOrder.LITTLE_ENDIAN));
            }
            withdraw(withdrawn);
        });
    }

    private void sendAgain(Call call, Throwable error) {
        lock.lock();
        try {
            if (underWay == call) {
                call.lastError = error;
                if (patient && call.attempts == 5) {
                    LOG.warn(
                            "queue '{}': acknowledgements wait, Redis has not accepted them {} times; trying on: {}",
                            queue,
                            call.attempts,
                            error.toString());
                } else if (call.attempts == 1) {
                    LOG.debug(
                            "queue '{}': {} is repeated until Redis answers: {}", queue, call.script, error.toString());
                }
                resend = timers.schedule(Backoff.nanos(call.attempts, random), () -> resend(call));
            }
        } finally {
            lock.unlock();
        }
    }

    private void resend(Call call) {
        lock.lock();
        try {
            if (underWay != call) {
                return;
            }
            resend = null;
        } finally {
            lock.unlock();
        }
        send(call);
    }

    /** Completes callers' futures, whose dependents run on this thread. */
    private static void complete(Runnable completions) {
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

    private void complete(Call call, ByteBuffer reply) {
        if (reply.remaining() != 8 + 9 * call.requests.size()) {
            refuse(
                    call,
                    new DelayQueueException("the reply of script " + call.script + " has " + reply.remaining()
                            + " bytes for " + call.requests.size() + " requests"));
            return;
        }
        long time = (long) reply.getDouble();
        for (Request<?> request : call.requests) {
            request.answer(time, reply.get(), (long) reply.getDouble());
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
        if (underWay != null) {
            underWay.requests.stream()
                    .filter(request -> !request.submission().isDone())
                    .forEach(this::armExpiry);
        }
        waiting.forEach(this::armExpiry);
    }

    /** Sets the timer to a request's deadline, if it is not set to an earlier one. Holds the lock. */
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
        String because;
        Throwable cause;
        lock.lock();
        try {
            expiry = null;
            long now = timers.nanoTime();
            if (underWay != null) {
                for (Request<?> request : underWay.requests) {
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
            because = because(underWay);
            cause = underWay == null ? null : underWay.lastError;
        } finally {
            lock.unlock();
        }
        complete(() -> end(unknown, withdrawn, because, cause));
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
                            "queue '" + queue + "': Redis did not answer in time; " + perhapsDone(request) + because,
                            true,
                            cause));
        }
        for (Request<?> request : withdrawn) {
            request.submission()
                    .fail(new RequestTimeoutException(
                            "queue '" + queue + "': Redis did not answer in time; " + notSent(request) + because,
                            false,
                            cause));
        }
    }

    private static String notSent(Request<?> request) {
        return request.script() == LuaScript.SCHEDULE
                ? "message '" + request.id() + "' was not sent, nothing was stored"
                : change(request) + " was not sent, nothing was changed";
    }

    private static String perhapsDone(Request<?> request) {
        return request.script() == LuaScript.SCHEDULE
                ? "message '" + request.id() + "' may be stored: the same id can safely be sent again"
                : change(request) + " may have taken effect: it can safely be asked for again";
    }

    /** A pause and its end are about no message. */
    private static String change(Request<?> request) {
        return request.id().isEmpty() ? "the change of the queue" : "the change of message '" + request.id() + "'";
    }

    private static String because(Call call) {
        return call == null || call.lastError == null ? "" : " (" + RedisErrors.text(call.lastError) + ")";
    }

    boolean isIdle() {
        lock.lock();
        try {
            return underWay == null && waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Ends this lane if it has nothing to do; its successor goes on with higher sequence numbers. */
    boolean retireIfIdle() {
        lock.lock();
        try {
            retired = retired || (underWay == null && waiting.isEmpty());
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
            if (underWay != null) {
                failed.addAll(underWay.requests);
                underWay = null;
            }
            disarmExpiry();
            if (resend != null) {
                resend.cancel();
                resend = null;
            }
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
