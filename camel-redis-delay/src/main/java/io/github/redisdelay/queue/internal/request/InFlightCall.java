// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call that carries requests, from its first sending to its answer. It is sent again, byte for byte, until Redis
 * answers: the script executes it once.
 */
final class InFlightCall {

    private static final Logger LOG = LoggerFactory.getLogger(InFlightCall.class);

    /** The number of sendings after which the log tells that deliveries cannot be finished. */
    private static final int WARN_ATTEMPTS = 5;

    /** Gets the outcome of a call. */
    @FunctionalInterface
    interface Listener {
        /**
         * @param reply the script's answer; null if the call was refused
         * @param refusal Redis's last word on a call that was refused, else null
         */
        void answered(InFlightCall call, DurableReply reply, Throwable refusal);
    }

    private final RequestChannel channel;
    private final int slot;
    private final LuaScript script;
    private final List<Object> keys;
    private final Object[] arguments;
    private final List<Request<?>> requests;
    private final Listener listener;
    private final long madeNanos;

    /** The number of sendings so far. One thread at a time sends, and only that one writes it. */
    private volatile int attempts;
    /** The error of the last sending; null if none has failed. Written with this object's monitor held. */
    private volatile Throwable lastError;
    /** The timer of the next sending; null while none is planned. Guarded by this. */
    private Timers.Timer resend;
    /** True once nothing is sent any more. Guarded by this. */
    private boolean abandoned;

    /** @param slot the index of the session under which it is sent */
    InFlightCall(
            RequestChannel channel,
            int slot,
            LuaScript script,
            List<Object> keys,
            Object[] arguments,
            List<Request<?>> requests,
            Listener listener) {
        this.channel = channel;
        this.slot = slot;
        this.script = script;
        this.keys = keys;
        this.arguments = arguments;
        this.requests = requests;
        this.listener = listener;
        this.madeNanos = channel.timers().nanoTime();
    }

    /**
     * The arguments of a new call: the session's name, the call's number, the head, and the arguments of each request.
     */
    static Object[] arguments(Session session, Object[] head, List<Request<?>> requests) {
        List<Object> arguments = new ArrayList<>(2 + head.length + 5 * requests.size());
        arguments.add(session.name());
        arguments.add(Digits.of(session.numbers().getAsLong()));
        Collections.addAll(arguments, head);
        requests.forEach(request -> Collections.addAll(arguments, request.arguments()));
        return arguments.toArray();
    }

    int slot() {
        return slot;
    }

    /** For how long it has been under way. */
    long ageNanos() {
        return channel.timers().nanoTime() - madeNanos;
    }

    List<Request<?>> requests() {
        return requests;
    }

    /** The ids of the messages that it is about; a new set. */
    Set<String> messageIds() {
        return requests.stream().map(Request::messageId).collect(Collectors.toCollection(HashSet::new));
    }

    /** The error of the last sending; null if none has failed. */
    Throwable lastError() {
        return lastError;
    }

    /** Completes the callers' futures with their items of the script's answer. */
    void complete(DurableReply answer) {
        ByteBuffer reply = LittleEndian.of((byte[]) answer.reply());
        boolean allDone = reply.remaining() == 8;
        if (!allDone && reply.remaining() != 8 + 9 * requests.size()) {
            refuse(new DelayQueueException("the reply of script " + script + " has " + reply.remaining() + " bytes for "
                    + requests.size() + " requests"));
            return;
        }
        long time = (long) reply.getDouble();
        for (Request<?> request : requests) {
            int outcome = allDone ? 1 : reply.get();
            complete(request, time, outcome, allDone ? 0 : (long) reply.getDouble(), answer.unmet());
        }
    }

    /** @param unmet what the call is short of; null if it is as safe as was asked for */
    private <T> void complete(
            Request<T> request, long timeMicros, int outcome, long valueMicros, UnmetDurability unmet) {
        T result;
        try {
            result = request.read(timeMicros, outcome, valueMicros);
        } catch (RuntimeException e) {
            request.submission().fail(e);
            return;
        }
        if (unmet == null) {
            request.submission().succeed(result);
        } else {
            request.submission()
                    .unconfirmed(unmet.exception(channel.queue().name(), request.done(), result), () -> channel.sender()
                            .submit(new Confirmation<>(request.queue(), request.done(), result, unmet))
                            .result());
        }
    }

    /** Fails the callers' futures. */
    void refuse(Throwable error) {
        DelayQueueException exception = channel.errors().refused(error, attempts > 1);
        for (Request<?> request : requests) {
            request.submission().fail(exception);
        }
    }

    /** Sends the call for the first time. */
    void start() {
        send(1);
    }

    /** Sends nothing any more. An answer to what was sent is still told. */
    synchronized void abandon() {
        abandoned = true;
        if (resend != null) {
            resend.cancel();
        }
    }

    private void send(int attempt) {
        attempts = attempt;
        channel.send(script, keys, arguments, attempt).whenComplete(this::answered);
    }

    private void answered(DurableReply reply, Throwable failure) {
        Throwable error = failure == null ? null : ErrorText.unwrap(failure);
        if (error == null && !(reply.reply() instanceof byte[])) {
            error = new DelayQueueException("unexpected reply of script " + script + ": " + reply.reply());
        }
        if (error == null) {
            listener.answered(this, reply, null);
        } else if (channel.kind().isFinal(error)) {
            listener.answered(this, null, error);
        } else {
            sendLater(error);
        }
    }

    private synchronized void sendLater(Throwable error) {
        if (abandoned) {
            return;
        }
        lastError = error;
        int failures = attempts;
        if (channel.kind() == RequestKind.DELIVERY && failures == WARN_ATTEMPTS) {
            LOG.warn(
                    "queue '{}': acknowledgements wait, Redis has not accepted them {} times; trying on: {}",
                    channel.queue().name(),
                    failures,
                    ErrorText.of(error));
        } else if (failures == 1) {
            LOG.debug(
                    "queue '{}': {} is repeated until Redis answers: {}",
                    channel.queue().name(),
                    script,
                    error.toString());
        }
        resend = channel.timers().schedule(Backoff.nanos(failures, channel.random()), this::sendAgain);
    }

    private void sendAgain() {
        synchronized (this) {
            if (abandoned) {
                return;
            }
            resend = null;
        }
        send(attempts + 1);
    }
}
