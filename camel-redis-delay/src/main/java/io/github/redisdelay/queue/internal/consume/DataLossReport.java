// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The warning that Redis has lost what it held: one for all queues of a client, which find it out one after the other
 * within seconds. Thread-safe.
 */
final class DataLossReport {

    private static final Logger LOG = LoggerFactory.getLogger(DataLossReport.class);

    /** From the first queue that finds it out to the warning. */
    static final long COLLECT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final int MOST_NAMES = 10;

    private final Timers timers;
    private final String server;

    // Both guarded by this.
    private final Set<String> queues = new TreeSet<>();
    private long seenMicros;

    /** @param server the server's name, for people */
    DataLossReport(Timers timers, String server) {
        this.timers = timers;
        this.server = server;
    }

    /**
     * A consumer of a queue is unknown to Redis.
     *
     * @param seen when Redis knew it last, in microseconds since the epoch
     * @return whether it is the first one; then the others have to look
     */
    synchronized boolean found(QueueAddress queue, long seen) {
        boolean first = queues.isEmpty();
        seenMicros = first ? seen : Math.min(seenMicros, seen);
        queues.add(queue.toString());
        if (first) {
            timers.schedule(COLLECT_NANOS, this::warn);
        }
        return first;
    }

    private synchronized void warn() {
        LOG.warn(
                "{} has lost data since {}: consumers that it knew then were unknown. All messages that were delayed may be"
                        + " gone in {}{}. Redis was flushed, or restarted or failed over without its data, or keys were"
                        + " deleted",
                server,
                Instant.EPOCH.plus(seenMicros, ChronoUnit.MICROS).truncatedTo(ChronoUnit.SECONDS),
                queues.stream().limit(MOST_NAMES).collect(Collectors.joining("; ")),
                queues.size() > MOST_NAMES ? " and " + (queues.size() - MOST_NAMES) + " more" : "");
        queues.clear();
    }
}
