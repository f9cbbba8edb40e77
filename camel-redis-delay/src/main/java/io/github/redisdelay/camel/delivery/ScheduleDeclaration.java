// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.time.Instant;
import java.time.zone.ZoneRulesProvider;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recurring schedule that a consumer declares: when it starts, and again each minute. So one that Redis has lost costs a
 * minute, and any number of consumers may declare it. Thread-safe.
 */
public final class ScheduleDeclaration {

    private static final Logger LOG = LoggerFactory.getLogger(ScheduleDeclaration.class);

    /** A header of the stored message, which no route receives: a route declares the schedule. Consoles show it. */
    public static final String DECLARED = "CamelRedisDelayDeclared";

    static final Duration INTERVAL = Duration.ofMinutes(1);

    /**
     * What is declared.
     *
     * @param group the group of its message; null for none
     * @param settings what its message brings along, such as a time to live
     */
    public record Declared(String id, Schedule rule, String group, Envelope.Settings settings) {}

    private final DelayQueue queue;
    private final Declared schedule;
    private final Timers timers;

    // Guarded by this.
    private Timers.Timer timer = () -> {};
    /** When it was declared first, by the clock of Redis as it is now, and by the local one. */
    private long declaredMicros;

    private long declaredNanos;
    private boolean stopped;
    private boolean failing;

    /** @param schedule null if the consumer declares none */
    public ScheduleDeclaration(DelayQueue queue, Declared schedule, Timers timers) {
        this.queue = queue;
        this.schedule = schedule;
        this.timers = timers;
    }

    /** Declares it for the first time, and says when the next runs are by this machine's clock. */
    public void start() {
        if (schedule != null) {
            // Only for the log: the rule before this one, and where the grid of an interval is.
            (schedule.group == null ? queue : queue.group(schedule.group).queue())
                    .get(schedule.id)
                    .exceptionally(error -> Optional.empty())
                    .thenAccept(found -> start(found.map(StoredMessage::info)));
        }
    }

    private void start(Optional<MessageInfo> stored) {
        Schedule rule = schedule.rule;
        String old = stored.map(MessageInfo::rule).orElse(null);
        long now = 1_000 * System.currentTimeMillis();
        long grid = rule.encode().equals(old) ? stored.get().runMicros() : now;
        String next = LongStream.iterate(rule.next(grid, now), time -> rule.next(time, time))
                .limit(3)
                .mapToObj(time -> at(time).toString())
                .collect(Collectors.joining(", "));
        LOG.info(
                "{} is {}: {} (time zones of {})",
                shown(),
                rule,
                next,
                ZoneRulesProvider.getVersions("UTC").lastKey());
        declare(old);
    }

    private static Instant at(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000);
    }

    private String shown() {
        return "queue '" + queue.name() + "': schedule '" + schedule.id + "'";
    }

    /** @param before the rule that was stored, for the log; null if there is none, or it is not known */
    private synchronized void declare(String before) {
        if (!stopped) {
            byte[] body = Envelope.of(null, null, Map.of(DECLARED, true), schedule.settings)
                    .encode();
            ScheduleRequest request =
                    ScheduleRequest.of(schedule.id, body, DueTime.now()).withGroup(schedule.group);
            queue.schedule(request.recurring(schedule.rule, declaredMicros))
                    .outcome()
                    .whenComplete((result, error) -> answered(before, result, error));
        }
    }

    private synchronized void answered(String before, ScheduleResult result, Throwable error) {
        if (error == null && result.scheduledMicros() < declaredMicros) {
            // The clock of Redis was ahead then.
            declaredMicros = result.scheduledMicros() - (timers.nanoTime() - declaredNanos) / 1_000;
        } else if (error == null && declaredMicros == 0) {
            declaredMicros = result.scheduledMicros();
            declaredNanos = timers.nanoTime();
        }
        // Not where it was ignored: a JVM that started later holds to its own.
        if (before != null && result != null && result.outcome() == ScheduleOutcome.REPLACED) {
            if (before.equals(schedule.rule.encode())) {
                LOG.warn(
                        "{} is due at {} again: a reschedule, a wrong clock or another rule had put its next run"
                                + " elsewhere",
                        shown(),
                        at(result.dueMicros()));
            } else {
                LOG.warn("{} was {}, and is {} from now on", shown(), before, schedule.rule);
            }
        }
        if (error != null && !failing && !stopped) {
            LOG.warn("{} could not be declared, trying again: {}", shown(), ErrorText.of(error));
        }
        failing = error != null;
        timer = timers.schedule(INTERVAL.toNanos(), () -> declare(schedule.rule.encode()));
        if (stopped) {
            timer.cancel();
        }
    }

    public synchronized void stop() {
        stopped = true;
        timer.cancel();
    }
}
