// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.redis.LuaScript;
/**
 * One caller's part of a script call.
 *
 * @param script the script that executes it; only requests for the same script share a call
 * @param id the message's id
 * @param arguments its arguments in the script's order
 * @param bytes about how much it adds to a call
 * @param deadlineNanos until when its caller waits, by the local clock; {@link Long#MAX_VALUE} if it waits for ever
 * @param reply makes the result from the script's answer, or throws what the caller is to get
 * @param submission the caller's future
 * @param resend sends it again where a failover may have undone it; null if that must not be, because it may undo what others have
 *     done since
 */
public record Request<T>(
        LuaScript script,
        String id,
        Object[] arguments,
        int bytes,
        long deadlineNanos,
        Reply<T> reply,
        Submission<T> submission,
        Resend<T> resend) {

    /** Reads one item of a script's answer. */
    @FunctionalInterface
    public interface Reply<T> {
        /**
         * @param timeMicros the server's time at the call
         * @param outcome the item's first byte
         * @param valueMicros the item's time
         */
        T read(long timeMicros, int outcome, long valueMicros);
    }

    /** Sends a request again that a failover may have undone. It may also be there, or have been there and be finished. */
    @FunctionalInterface
    public interface Resend<T> {
        /** @param result what the request was answered */
        Submission<T> send(T result);
    }

    /** What was done, a clause. */
    String done() {
        return script == LuaScript.SCHEDULE ? "message '" + id + "' is stored" : change() + " was made";
    }

    /** A pause and its end are about no message. */
    String change() {
        return id.isEmpty() ? "the change of the queue" : "the change of message '" + id + "'";
    }
}
