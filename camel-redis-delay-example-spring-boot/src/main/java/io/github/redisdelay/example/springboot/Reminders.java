// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import java.util.Optional;
import org.apache.camel.Consume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Reminds customers half-way through the payment window: a consumer that is a method and no route. */
@Component
public class Reminders {

    private static final Logger LOG = LoggerFactory.getLogger(Reminders.class);

    private final OrderBook book;

    Reminders(OrderBook book) {
        this.book = book;
    }

    /** When it returns, the message is acknowledged; if it throws, the message comes again. */
    @Consume("redis-delay:reminders")
    public void remind(String order) {
        if (book.state(order).equals(Optional.of(OrderState.OPEN))) {
            LOG.info("order {} is not paid yet: its customer is reminded", order);
        }
    }
}
