// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

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
 */
record Request<T>(
        LuaScript script,
        String id,
        Object[] arguments,
        int bytes,
        long deadlineNanos,
        Reply<T> reply,
        Submission<T> submission) {

    /** Reads one item of a script's answer. */
    @FunctionalInterface
    interface Reply<T> {
        /**
         * @param timeMicros the server's time at the call
         * @param outcome the item's first byte
         * @param valueMicros the item's time
         */
        T read(long timeMicros, int outcome, long valueMicros);
    }

    /** Completes the caller's future with an item of the answer. */
    void answer(long timeMicros, int outcome, long valueMicros) {
        T result;
        try {
            result = reply.read(timeMicros, outcome, valueMicros);
        } catch (RuntimeException e) {
            submission.fail(e);
            return;
        }
        submission.succeed(result);
    }
}
