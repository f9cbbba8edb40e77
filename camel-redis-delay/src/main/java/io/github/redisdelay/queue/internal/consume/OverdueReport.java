// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * Decides when a consumer without capacity asks whether a message is overdue, and whether that is worth a warning. It
 * warns once, until a claim was answered.
 *
 * <p>Guarded by the lock of the {@link ConsumerLoop} that owns it. Times are readings of the local clock.
 */
final class OverdueReport {

    /** The age from which on a message is overdue. One that waits for its batch is not. */
    private final long overdueNanos;

    /** True if it has asked, and does not ask again. */
    private boolean asked;
    /** It does not ask before: the last answer showed nothing overdue. */
    private long notBeforeNanos;

    OverdueReport(long now, ConsumerOptions.Batch batch) {
        this.overdueNanos = DeliveryHandler.STANDSTILL.toNanos()
                + (batch == null ? 0 : batch.timeout().toNanos());
        this.notBeforeNanos = now;
    }

    /**
     * The time to ask, if the consumer gets no capacity before; {@link Long#MAX_VALUE} if not at all.
     *
     * @param headNanos when the next message is due; {@link Long#MAX_VALUE} if that is not known
     */
    long nextAsk(long headNanos) {
        return asked || headNanos == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : Math.max(headNanos + overdueNanos, notBeforeNanos);
    }

    /** Begins to ask; false if it has asked already. */
    boolean begin() {
        boolean first = !asked;
        asked = true;
        return first;
    }

    void claimAnswered() {
        asked = false;
    }

    /**
     * The figures have come, or could not be read (null).
     *
     * @return for how long a message is overdue; null if that is worth no warning
     */
    Duration answered(QueueStats figures, long now) {
        Duration age = figures == null ? Duration.ZERO : Duration.of(figures.oldestOverdueMicros(), ChronoUnit.MICROS);
        if (age.toNanos() >= overdueNanos) {
            return age;
        }
        // A message that becomes overdue while the same work hangs on is still to be reported.
        asked = false;
        notBeforeNanos = now + overdueNanos - age.toNanos();
        return null;
    }
}
