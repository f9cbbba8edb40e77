// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.example.springboot.PaymentAnswer.Result;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.camel.CamelExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.FluentProducerTemplate;
import org.apache.camel.Message;
import org.springframework.stereotype.Service;

/**
 * Takes orders and payments. Both are done when Redis has confirmed them.
 *
 * <p>An order waits in two queues, under its id: in {@code orders} until it is closed, in {@code reminders} until its
 * customer is reminded. A payment is noted in the book, and cancels both. The book decides whether the payment was in
 * time.
 */
@Service
public class OrderService {

    private final FluentProducerTemplate template;
    private final OrderBook book;

    OrderService(FluentProducerTemplate template, OrderBook book) {
        this.template = template;
        this.book = book;
    }

    /**
     * Schedules the closing of a new order, and the reminder before it.
     *
     * @throws OrderExistsException if its id is in use
     */
    public OrderStatus place(Order order) {
        String id = order.id();
        if (book.state(id).isPresent()) {
            throw new OrderExistsException(id);
        }
        Duration window = order.paymentWindow();
        // First: a request that is sent again, because its answer was lost, may find this one stored already.
        send(template.to("redis-delay:reminders?delay={{payment.reminder}}&onDuplicate=ignore")
                .withHeaders(headers(id, window == null ? null : window.dividedBy(2)))
                .withBody(id));
        Message placed = send(template.to("direct:orderPlaced")
                .withHeaders(headers(id, window))
                .withBody(order));
        book.open(id);
        return new OrderStatus(id, OrderState.OPEN, dueTime(placed));
    }

    /** Without a delay of the order's own that of the endpoint holds. */
    private static Map<String, Object> headers(String id, Duration delay) {
        return delay == null
                ? Map.of(RedisDelayConstants.SCHEDULE_ID, id)
                : Map.of(RedisDelayConstants.SCHEDULE_ID, id, RedisDelayConstants.DELAY, delay);
    }

    /** Takes the payment of an order, if it is not too late. */
    public PaymentAnswer pay(String id) {
        String closing = withId("redis-delay:orders?operation=get", id)
                .getHeader(RedisDelayConstants.MESSAGE_STATE, String.class);
        Optional<OrderState> before = book.state(id);
        if (closing.equals("none") && before.isEmpty()) {
            return new PaymentAnswer(id, Result.UNKNOWN);
        }
        // The payment first: if this JVM dies before the cancels, the closing finds the order paid and changes nothing.
        if (book.settle(id, OrderState.PAID) != OrderState.PAID) {
            return new PaymentAnswer(id, Result.CLOSED);
        }
        withId("redis-delay:orders?operation=cancel", id);
        withId("redis-delay:reminders?operation=cancel", id);
        return new PaymentAnswer(id, before.equals(Optional.of(OrderState.PAID)) ? Result.PAID_BEFORE : Result.PAID);
    }

    /** The state of an order, and when it is closed; empty if there is none. */
    public Optional<OrderStatus> find(String id) {
        Message closing = withId("redis-delay:orders?operation=get", id);
        return book.state(id).map(state -> new OrderStatus(id, state, dueTime(closing)));
    }

    private Message withId(String uri, String id) {
        return send(template.to(uri).withHeader(RedisDelayConstants.SCHEDULE_ID, id));
    }

    private static Message send(FluentProducerTemplate call) {
        Exchange exchange = call.send();
        if (exchange.isFailed()) {
            throw new CamelExecutionException("not sent", exchange, exchange.getException());
        }
        return exchange.getMessage();
    }

    private static Instant dueTime(Message message) {
        Long due = message.getHeader(RedisDelayConstants.DUE_TIME, Long.class);
        return due == null ? null : Instant.ofEpochMilli(due);
    }
}
