// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import org.apache.camel.CamelExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Service;

@Service
public class OrderService {

    private static final Logger LOG = LoggerFactory.getLogger(OrderService.class);

    private final ProducerTemplate producer;
    private final OrderTable table;

    public OrderService(ProducerTemplate producer, OrderTable table) {
        this.producer = producer;
        this.table = table;
    }

    /** Schedules the closing of an order. When it returns, Redis has the message. */
    public void place(Order order) {
        table.insert(order.id());
        producer.sendBodyAndHeader("direct:orderPlaced", order, "CamelRedisDelayScheduleId", order.id());
    }

    /** Returns true if this call paid the order. False: it was paid or closed before, or is unknown. */
    public boolean pay(String id) {
        boolean inTime = table.change(id, "PAID"); // first: after a crash here the closing finds the order paid
        if (inTime) {
            LOG.info("order {} is paid, its message was {}", id, cancel(id));
        }
        return inTime;
    }

    /** Cancels the message of an order. Returns its state before: delayed, leased, dead or none. */
    public String cancel(String id) {
        return call("redis-delay:orders?operation=cancel", id, "CamelRedisDelayPreviousState");
    }

    /** Reports the state of the message without changing it: delayed, leased, dead or none. */
    public String message(String id) {
        return call("redis-delay:orders?operation=get", id, "CamelRedisDelayState");
    }

    /** The route calls it when an order is due. A message may come twice: the second time changes nothing. */
    public void closeIfUnpaid(Order order) {
        if (table.change(order.id(), "CLOSED")) {
            LOG.info("order {} of {} was not paid in time and is closed", order.id(), order.customer());
        }
    }

    private String call(String uri, String id, String answer) {
        Exchange reply =
                producer.request(uri, exchange -> exchange.getMessage().setHeader("CamelRedisDelayScheduleId", id));
        if (reply.getException() != null) { // request() does not throw it
            throw new CamelExecutionException(uri + " of " + id, reply, reply.getException());
        }
        return reply.getMessage().getHeader(answer, String.class);
    }
}
