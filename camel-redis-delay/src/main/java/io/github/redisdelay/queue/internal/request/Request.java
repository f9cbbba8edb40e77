// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;

/**
 * The part of one caller in a script call. A subclass makes the arguments of its script and reads its answer; {@link
 * RequestBatcher} puts it into a call, and {@link InFlightCall} sends that.
 *
 * @param <T> the result for the caller
 */
public abstract class Request<T> {

    private final QueueAddress queue;
    private final LuaScript script;
    private final String id;
    private final int bytes;
    private final Object[] arguments;
    private final SubmissionPromise<T> submission = new SubmissionPromise<>();
    /** Written by the router before it hands over the request. */
    private long deadlineNanos = Long.MAX_VALUE;

    /** The way of requests to Redis. */
    public interface Sender {
        <T> Submission<T> submit(Request<T> request);
    }

    /**
     * @param script the script that executes it; only requests for the same script share a call
     * @param id the message's id; empty if the request is about no message
     * @param bytes the size that it adds to a call, about
     * @param arguments its arguments in the script's order
     */
    protected Request(QueueAddress queue, LuaScript script, String id, int bytes, Object... arguments) {
        this.queue = queue;
        this.script = script;
        this.id = id;
        this.bytes = bytes;
        this.arguments = arguments;
    }

    /**
     * Makes the result from the request's item of the script's answer, or throws what the caller is to get.
     *
     * @param timeMicros the server's time at the call
     * @param outcome the item's first byte
     * @param valueMicros the item's time
     */
    protected abstract T read(long timeMicros, int outcome, long valueMicros);

    public QueueAddress queue() {
        return queue;
    }

    public LuaScript script() {
        return script;
    }

    public String id() {
        return id;
    }

    /** The id of the message whose requests keep their order: for a dead letter that of the message it was. */
    protected String messageId() {
        return id;
    }

    int bytes() {
        return bytes;
    }

    Object[] arguments() {
        return arguments;
    }

    /** The caller's future. */
    public SubmissionPromise<T> submission() {
        return submission;
    }

    /** Until when the caller waits, by the local clock; {@link Long#MAX_VALUE} if it waits for ever. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    public void waitUntil(long nanos) {
        deadlineNanos = nanos;
    }

    /** A clause that says what its execution has done. */
    String done() {
        return stores() ? "message '" + id + "' is stored" : change() + " was made";
    }

    /** True if Redis has executed its change before it was made. */
    boolean isDone() {
        return false;
    }

    /** True if its execution stores its message. */
    protected boolean stores() {
        return false;
    }

    /** The change that it asks for, for people. */
    String change() {
        return id.isEmpty() ? "the change of the queue" : "the change of message '" + id + "'";
    }

    /** The error for an outcome that the script's header does not name. */
    protected DelayQueueException unknown(int outcome) {
        return new DelayQueueException("script " + script + " answered " + outcome);
    }

    /** The error for a due time that is too far away. */
    protected static IllegalArgumentException beyondRange(DueTime due) {
        return new IllegalArgumentException((due.relative() ? "delay" : "delivery time") + " of " + due.micros()
                + " microseconds ends beyond the year 2255: a due time must be below 2^53 microseconds");
    }
}
