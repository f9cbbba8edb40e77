// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The life of each message, by its id: a line at DEBUG when it is scheduled, delivered, and when a delivery has ended. */
public final class MessageLog {

    private static final Logger LOG = LoggerFactory.getLogger(MessageLog.class);

    private MessageLog() {}

    /** Returns whether it is switched on. */
    public static boolean isOn() {
        return LOG.isDebugEnabled();
    }

    /** Notes the answer to a schedule. */
    public static void scheduled(String queue, ScheduleResult result) {
        if (isOn()) {
            LOG.debug(
                    "message '{}' of queue '{}' was scheduled at {}: {}{}",
                    ShownId.of(result.id()),
                    queue,
                    time(result.scheduledMicros()),
                    result.outcome(),
                    result.dueMicros() == 0 ? "" : ", due " + time(result.dueMicros()));
        }
    }

    /** Notes that a message is handed to its route. */
    public static void delivered(Delivery delivery) {
        if (isOn()) {
            LOG.debug("{} is delivered, due {}", delivery, time(delivery.dueMicros()));
        }
    }

    /** Notes that Redis has accepted the end of a delivery. */
    public static void ended(Delivery delivery, Settlement end) {
        if (isOn()) {
            LOG.debug("{} is finished, due {}: {}", delivery, time(delivery.dueMicros()), end.word());
        }
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
