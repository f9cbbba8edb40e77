// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.apache.camel.Handler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Closes orders. A message may come twice: the second time changes nothing. */
@Component
public class CloseIfUnpaid {

    private static final Logger LOG = LoggerFactory.getLogger(CloseIfUnpaid.class);

    private final OrderBook book;

    CloseIfUnpaid(OrderBook book) {
        this.book = book;
    }

    @Handler
    public void close(Order order) {
        if (book.settle(order.id(), OrderState.CLOSED) == OrderState.CLOSED) {
            LOG.info("order {} of {} was not paid in time and is closed", order.id(), order.customer());
        }
    }
}
