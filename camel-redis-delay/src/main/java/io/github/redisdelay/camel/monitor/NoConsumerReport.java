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
                lookAfter(due, due - result.scheduledMicros());
            }
        }

        private synchronized void lookAfter(long dueMicros, long delayMicros) {
            if (dueMicros < earliestMicros) {
                end();
                earliestMicros = dueMicros;
                lookIn(OVERDUE.plus(StatsText.micros(Math.max(0, delayMicros))));
            }
        }

        private synchronized void end() {
            if (timer != null) {
                timer.cancel();
            }
            earliestMicros = Long.MAX_VALUE;
        }

        /** Holds the lock. */
        private void lookIn(Duration wait) {
            timer = timers.get().schedule(wait.toNanos(), this::look);
        }

        private void look() {
            queue.admin().stats().whenComplete((stats, error) -> {
                synchronized (this) {
                    timer = null;
                    if (error == null) {
                        looked(stats);
                    } else {
                        lookIn(OVERDUE);
                    }
                }
            });
        }

        /** Holds the lock. */
        private void looked(QueueStats stats) {
            long ahead = latestMicros.get() + STEP_MICROS - stats.timeMicros();
            if (stats.consumers() > 0) {
                patience = OVERDUE;
            }
            if (stats.consumers() == 0
                    && StatsText.micros(stats.oldestOverdueMicros()).compareTo(patience) >= 0) {
                warn(stats);
                patience = QUIET; // receivers that poll are not known, but take what is overdue for so long
                earliestMicros = 0; // what is scheduled meanwhile changes nothing
                lookIn(QUIET);
            } else if (stats.overdue() > 0) {
                earliestMicros = 0;
                lookIn(OVERDUE);
            } else if (ahead > 0) {
                // The consumer that is there now may be gone then.
                long next = stats.nextDueMicros() < 0 ? TimeUnit.HOURS.toMicros(1) : stats.nextDueMicros();
                long wait = Math.min(ahead, next);
                earliestMicros = stats.timeMicros() + wait;
                lookIn(OVERDUE.plus(StatsText.micros(wait)));
            } else {
                earliestMicros = Long.MAX_VALUE;
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
