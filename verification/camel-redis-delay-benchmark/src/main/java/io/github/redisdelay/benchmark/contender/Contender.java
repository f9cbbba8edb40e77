// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.queue.DueTime;
import java.util.List;

/**
 * One of those that are compared, with a queue of its own that is empty when it is made. Closing it leaves what is in
 * the queue on Redis.
 */
public interface Contender extends AutoCloseable {

    /** The number of messages that an asynchronous caller has under way. */
    int UNDER_WAY = 2000;

    /** One of the constants of {@link Subject}. */
    String subject();

    /** Schedules a message and waits for the answer. Called by many threads at a time. */
    void schedule(Message message) throws Exception;

    /**
     * Schedules messages that are due at the same time, in the way that is meant for several, and waits for the
     * answers.
     */
    void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception;

    /** Schedules all messages with up to {@value #UNDER_WAY} under way, and returns when the last one is answered. */
    void scheduleAll(Source source) throws Exception;

    /** Starts to receive and acknowledge. */
    Consumption consume(Arrivals arrivals) throws Exception;

    /** The number of messages that the server holds in this queue, those being delivered included. */
    long remaining();

    @Override
    void close() throws Exception;

    /** A consumer that runs. */
    interface Consumption extends AutoCloseable {

        /** Stops, and waits until what was begun is finished. */
        @Override
        void close() throws Exception;
    }
}
