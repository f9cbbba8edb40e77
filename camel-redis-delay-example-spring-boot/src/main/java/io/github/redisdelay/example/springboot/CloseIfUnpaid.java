// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.camel.Handler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Closes orders; where they are kept in a database, it looks there first whether they are paid. */
@Component
public class CloseIfUnpaid {

    private static final Logger LOG = LoggerFactory.getLogger(CloseIfUnpaid.class);

    private final List<Order> closed = new CopyOnWriteArrayList<>();

    @Handler
    public void close(Order order) {
        closed.add(order);
        LOG.info("order {} of {} was not paid in time and is closed", order.id(), order.customer());
    }

    /** The orders closed since the start. */
    public List<Order> closed() {
        return List.copyOf(closed);
    }
}
