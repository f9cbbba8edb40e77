// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * One of those that are compared where requests are of different kinds, with a queue of its own that is empty when it is
 * made. Messages have numbers, by which they are cancelled, and are {@link Message} as elsewhere.
 */
public interface Requests extends AutoCloseable {

    /** When a message is due that is not to be delivered. */
    Duration FAR = Duration.ofHours(1);

    /** A kind of request. */
    enum Kind {
        /** Stores a message that is due in an hour. */
        SCHEDULE,
        /** Stores a message that is due at once. */
        SCHEDULE_DUE,
        CANCEL,
        /** Makes a message due at once. */
        RESCHEDULE,
        GET;

        public DueTime due() {
            return this == SCHEDULE ? DueTime.after(FAR) : DueTime.now();
        }
    }

    /** Makes a request and waits for the answer. Called by many threads at a time. */
    void call(Kind kind, int number) throws Exception;

    CompletableFuture<?> send(Kind kind, int number);

    /** Starts to receive. What fails comes again after this delay. */
    Consumption consume(Duration redeliveryDelay, Deliveries deliveries) throws Exception;

    /** True if the server holds so many delayed messages, and none that is leased. */
    boolean holds(long delayed);

    /** The same for a queue of the component. */
    static boolean holds(DelayQueue queue, long delayed) {
        QueueStats stats = queue.admin().stats().join();
        return stats.delayed() == delayed && stats.leased() == 0 && stats.dead() == 0;
    }

    static String id(int number) {
        return "o" + number;
    }

    @Override
    void close() throws Exception;
}
