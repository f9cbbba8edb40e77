// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Timers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns producers whose messages nobody receives: those that this JVM has scheduled are overdue, and no consumer of the
 * queue is known. Redis is asked only a minute after such a message was due, once for each queue, and again while messages
 * are overdue or may become due. Thread-safe.
 */
public final class NoConsumerReport {

    private static final Logger LOG = LoggerFactory.getLogger(NoConsumerReport.class);

    static final Duration OVERDUE = Duration.ofMinutes(1);
    static final Duration QUIET = Duration.ofHours(1);

    /** For a look that what is scheduled meanwhile does not change. */
    private static final long SOON = 0;

    /** A due time is noted only if it is so much earlier, or later, than the one that is known. */
    private static final long STEP_MICROS = 1_000_000;

    private static final int MOST_QUEUES = 10_000;

    private final Supplier<Timers> timers;
    private final Map<String, Watch> watches = new ConcurrentHashMap<>();

    /** @param timers asked for when the first message is scheduled */
    public NoConsumerReport(Supplier<Timers> timers) {
        this.timers = timers;
    }

    /**
     * The watch of a queue: the same for all producers of it.
     *
     * @param queue asks for the figures; the one of the latest call
     */
    public Watch of(DelayQueue queue, String address, String keyPrefix) {
        if (watches.size() >= MOST_QUEUES) {
            watches.values().forEach(Watch::end); // a producer goes on with the one that it has
            watches.clear();
        }
        Watch watch = watches.computeIfAbsent(
                address + " " + keyPrefix + " " + queue.name(), key -> new Watch(address, keyPrefix));
        watch.queue = queue;
        return watch;
    }

    /** The watch of one queue. */
    public final class Watch {
        private final String address;
        private final String keyPrefix;
        private volatile DelayQueue queue; // any producer's

        /** The earliest due time since the last look, in microseconds. Written under this. */
        private volatile long earliestMicros = Long.MAX_VALUE;

        /** The latest due time of all messages, in microseconds. */
        private final AtomicLong latestMicros = new AtomicLong();

        private Timers.Timer timer; // guarded by this; null if none is set

        /** For how long messages are overdue before the next warning. Guarded by this. */
        private Duration patience = OVERDUE;

        private Watch(String address, String keyPrefix) {
            this.address = address;
            this.keyPrefix = keyPrefix;
        }

        /** A message was scheduled. Cheap: two comparisons, unless it is due before all others since the last look, or last. */
        public void scheduled(ScheduleResult result) {
            if (result.outcome() == ScheduleOutcome.IGNORED) {
                return;
            }
            long due = result.dueMicros();
            if (due > latestMicros.get() + STEP_MICROS) {
                latestMicros.accumulateAndGet(due, Math::max);
            }
            if (due < earliestMicros - STEP_MICROS) {
                lookAfter(due, OVERDUE.plus(StatsText.micros(Math.max(0, due - result.scheduledMicros()))));
            }
        }

        /** Holds no more than one timer: the one for the earliest time. */
        private synchronized void lookAfter(long dueMicros, Duration wait) {
            if (timer == null || dueMicros < earliestMicros) {
                end();
                earliestMicros = dueMicros;
                timer = timers.get().schedule(wait.toNanos(), this::look);
            }
        }

        private synchronized void end() {
            if (timer != null) {
                timer.cancel();
            }
            timer = null;
            earliestMicros = Long.MAX_VALUE;
        }

        private void look() {
            end(); // what is scheduled from now on may not be in the figures
            queue.admin().stats().whenComplete((stats, error) -> {
                if (error == null) {
                    looked(stats);
                } else {
                    lookAfter(SOON, OVERDUE);
                }
            });
        }

        private synchronized void looked(QueueStats stats) {
            long ahead = latestMicros.get() + STEP_MICROS - stats.timeMicros();
            if (stats.consumers() > 0) {
                patience = OVERDUE;
            }
            if (stats.consumers() == 0
                    && StatsText.micros(stats.oldestOverdueMicros()).compareTo(patience) >= 0) {
                warn(stats);
                patience = QUIET; // receivers that poll are not known, but take what is overdue for so long
                lookAfter(SOON, QUIET);
            } else if (stats.overdue() > 0) {
                lookAfter(SOON, OVERDUE);
            } else if (ahead > 0) {
                // The consumer that is there now may be gone then.
                long next = stats.nextDueMicros() < 0 ? TimeUnit.HOURS.toMicros(1) : stats.nextDueMicros();
                long wait = Math.min(ahead, next);
                lookAfter(stats.timeMicros() + wait, OVERDUE.plus(StatsText.micros(wait)));
            }
        }

        private void warn(QueueStats stats) {
            LOG.warn(
                    "queue '{}' on {}, key prefix '{}': {}. Start a consumer, or compare its queue name, keyPrefix, database and"
                            + " address with these",
                    queue.name(),
                    address,
                    keyPrefix,
                    StatsText.overdue(stats, "no consumer is known"));
        }
    }
}
