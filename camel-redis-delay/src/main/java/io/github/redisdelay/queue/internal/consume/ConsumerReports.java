// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reports of one consumer to its handler and to the log. An exception of the handler does not stop the consumer.
 */
final class ConsumerReports {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerReports.class);

    private final String queue;
    private final DeliveryHandler handler;

    ConsumerReports(String queue, DeliveryHandler handler) {
        this.queue = queue;
        this.handler = handler;
    }

    /** @param error null if claims work again */
    void claimsFailing(Throwable error) {
        tell(to -> to.claimsFailing(error));
    }

    void paused(boolean paused) {
        tell(to -> to.paused(paused));
    }

    void overdue(Duration age, Delivery longestRunning) {
        tell(to -> to.overdueWhileFull(age, longestRunning));
    }

    void extensionLimitReached(Delivery delivery, Duration age) {
        tell(to -> to.extensionLimitReached(delivery, age));
    }

    void bodiesMissing(List<String> ids) {
        for (String id : ids) {
            LOG.warn("queue '{}': message '{}' had no body and was dropped", queue, ShownId.of(id));
            tell(to -> to.bodyMissing(id));
        }
    }

    void answersTooLate(Duration visibilityTimeout) {
        LOG.warn(
                "queue '{}': Redis answers claims so late that half of the lease ({}) is over, so nothing is begun."
                        + " Make the visibility timeout longer",
                queue,
                visibilityTimeout);
    }

    private void tell(Consumer<DeliveryHandler> report) {
        try {
            report.accept(handler);
        } catch (Throwable e) {
            LOG.warn("queue '{}': a callback failed", queue, e);
        }
    }
}
