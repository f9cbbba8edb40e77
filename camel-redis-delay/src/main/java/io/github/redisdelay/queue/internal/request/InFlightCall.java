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
import io.github.redisdelay.queue.internal.redis.RepeatedCall;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call that carries requests, from its first sending to its answer. It is sent again, byte for byte, until Redis
 * answers: the script executes it once.
 */
abstract class InFlightCall extends RepeatedCall<DurableReply> {

    private static final Logger LOG = LoggerFactory.getLogger(InFlightCall.class);

    /** The number of sendings after which the log tells that deliveries cannot be finished. */
    private static final int WARN_ATTEMPTS = 5;

    private final int slot;
    private final LuaScript script;
    private final Object[] arguments;
    private final List<Request<?>> requests;
    private final RequestKind kind;
    private final Timers timers;
    private final long madeNanos;

    /**
     * @param slot the index of the session under which it is sent
     * @param requests of one script
     */
    InFlightCall(int slot, Object[] arguments, List<Request<?>> requests, RequestKind kind, Backoff backoff) {
        super(backoff);
        this.slot = slot;
        this.script = requests.get(0).script();
        this.arguments = arguments;
        this.requests = requests;
        this.kind = kind;
        this.timers = backoff.timers();
        this.madeNanos = timers.nanoTime();
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

    LuaScript script() {
        return script;
    }

    Object[] arguments() {
        return arguments;
    }

    int slot() {
        return slot;
    }

    /** For how long it has been under way. */
    long ageNanos() {
        return timers.nanoTime() - madeNanos;
    }

    List<Request<?>> requests() {
        return requests;
    }

    /** The ids of the messages that it is about; a new set. */
    Set<String> messageIds() {
        Set<String> ids = new HashSet<>(2 * requests.size());
        requests.forEach(request -> ids.add(request.messageId()));
        return ids;
    }

    /**
     * Completes the callers' futures with their items of the script's answer.
     *
     * @param sender sends the further waits for those that are not as safe as was asked for
     */
    void complete(DurableReply answer, RequestErrors errors, Request.Sender sender) {
        ByteBuffer reply = LittleEndian.of(answer.reply() instanceof byte[] bytes ? bytes : new byte[0]);
        boolean allDone = reply.remaining() == 8;
        if (!allDone && reply.remaining() != 8 + 9 * requests.size()) {
            refuse(
                    new DelayQueueException("the reply of script " + script + " has " + reply.remaining()
                            + " bytes for " + requests.size() + " requests"),
                    errors);
            return;
        }
        long time = (long) reply.getDouble();
        for (Request<?> request : requests) {
            int outcome = allDone ? 1 : reply.get();
            complete(request, time, outcome, allDone ? 0 : (long) reply.getDouble(), answer.unmet(), sender);
        }
    }

    /** @param unmet what the call is short of; null if it is as safe as was asked for */
    private static <T> void complete(
            Request<T> request,
            long timeMicros,
            int outcome,
            long valueMicros,
            UnmetDurability unmet,
            Request.Sender sender) {
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
                    .unconfirmed(unmet.exception(request.queue().name(), request.done(), result), () -> sender.submit(
                                    new Confirmation<>(request.queue(), request.done(), result, unmet))
                            .result());
        }
    }

    /** Fails the callers' futures. */
    void refuse(Throwable error, RequestErrors errors) {
        DelayQueueException exception = errors.refused(error, isRepeated());
        requests.forEach(request -> request.submission().fail(exception));
    }

    @Override
    protected boolean isFinal(Throwable error) {
        return kind.isFinal(error);
    }

    @Override
    protected void failed(int attempt, Throwable error) {
        String queue = requests.get(0).queue().name();
        if (kind == RequestKind.DELIVERY && attempt == WARN_ATTEMPTS) {
            LOG.warn(
                    "queue '{}': acknowledgements are not sent yet, Redis has not accepted them {} times; trying on: {}",
                    queue,
                    attempt,
                    ErrorText.of(error));
        } else if (attempt == 1) {
            LOG.debug("queue '{}': {} is repeated until Redis answers: {}", queue, script, error.toString());
        }
    }
}
