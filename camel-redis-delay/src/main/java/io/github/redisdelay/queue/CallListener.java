// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A listener to the calls that a client makes to Redis, for measurements; see {@link ClientOptions}. The threads that it is
 * told on must not be blocked, and it must not throw. Thread-safe.
 */
public interface CallListener {

    /**
     * A call has ended. A call that is sent again is reported as often as it was sent.
     *
     * @param script the name of the script, such as {@code schedule}
     * @param nanos how long it has taken, from its sending to the answer or the failure, in nanoseconds
     * @param failed whether there was no answer in time, or an error instead of one
     */
    void ended(String script, long nanos, boolean failed);

    /** The client was closed. Calls that are still under way may be reported afterwards. */
    default void closed() {}
}
