// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.after;

import io.github.redisdelay.example.migration.Orders;
import org.apache.camel.Consume;
import org.springframework.stereotype.Component;

/** The consumer as a method, without a route. */
@Component
public class OrderListener {

    private final Orders orders;

    public OrderListener(Orders orders) {
        this.orders = orders;
    }

    @Consume("redis-delay:orders")
    public void closeIfUnpaid(String order) {
        orders.closeIfUnpaid(order);
    }
}
