// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.Delivery;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs that a message is overdue while a consumer has no free slot, and when the consumer goes on. Thread-safe. */
final class StandstillReport {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerDeliveries.class);

    /** The delivery that the last line names; null if none does, or it has ended. */
    private final AtomicReference<Delivery> named = new AtomicReference<>();

    /**
     * A message is overdue for this time.
     *
     * @param exchangeId of the longest running delivery; null if none was made
     */
    void overdue(Duration age, String consumer, int concurrentConsumers, Delivery longest, String exchangeId) {
        named.set(longest); // before the line, behind which it may have ended
        LOG.warn(
                "queue '{}': a message has been due for {} while {} works on as many as it may ({}). The longest"
                        + " running is {}, exchange {}, claimed {} ago",
                longest.queue(),
                Durations.text(age),
                consumer,
                concurrentConsumers,
                longest,
                exchangeId,
                Durations.text(sinceClaim(longest)));
    }

    /** A delivery has ended. */
    void ended(Delivery delivery, String consumer) {
        if (named.get() == delivery && named.compareAndSet(delivery, null)) {
            LOG.info(
                    "queue '{}': {} goes on: {} has ended, claimed {} ago",
                    delivery.queue(),
                    consumer,
                    delivery,
                    Durations.text(sinceClaim(delivery)));
        }
    }

    /** The lateness grows with the time since the claim. */
    static Duration sinceClaim(Delivery delivery) {
        return delivery.lateness()
                .minus(StatsText.micros(Math.max(0, delivery.claimedMicros() - delivery.dueMicros())));
    }
}
