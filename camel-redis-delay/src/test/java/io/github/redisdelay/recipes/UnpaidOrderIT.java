// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnpaidOrderIT extends RecipeIT {

    /** Plays the order database. */
    public static class Orders {
        final Map<String, String> state = new ConcurrentHashMap<>();
        final BlockingQueue<String> askedForRefund = new LinkedBlockingQueue<>();
        final CountDownLatch closing = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        volatile boolean slow;
        volatile boolean broken; // set before the routes are started

        public void paid(String id) {
            state.replace(id, "open", "paid");
        }

        public void refundIfClosed(String id) {
            askedForRefund.add(id);
        }

        public void close(String id) throws InterruptedException {
            if (broken) {
                throw new IllegalStateException("database is away");
            }
            if (slow) {
                closing.countDown();
                goOn.await(20, TimeUnit.SECONDS);
            }
            state.replace(id, "open", "closed");
        }
    }

    private final Orders orders = new Orders();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new UnpaidOrder();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("orders", orders);
    }

    @BeforeEach
    void place() {
        orders.state.put("A-1", "open");
    }

    @Test
    void should_close_an_order_that_nobody_paid() throws Exception {
        template.sendBody("direct:orderPlaced", "A-1");
        assertThat(minutesToWait("orders")).isEqualTo(30);
        makeDue("orders");
        await().untilAsserted(() -> assertThat(orders.state).containsEntry("A-1", "closed"));
        await().until(() -> isEmpty("orders"));
    }

    @Test
    void should_count_an_order_once_that_is_told_twice() throws Exception {
        template.sendBody("direct:orderPlaced", "A-1");
        template.sendBody("direct:orderPlaced", "A-1");
        assertThat(stats("orders").delayed()).isOne();
    }

    @Test
    void should_leave_a_paid_order_alone() throws Exception {
        template.sendBody("direct:orderPlaced", "A-1");
        template.sendBody("direct:orderPaid", "A-1");
        assertThat(isEmpty("orders")).isTrue();
        assertThat(orders.state).containsEntry("A-1", "paid");
        assertThat(orders.askedForRefund).isEmpty();
    }

    @Test
    void should_tell_a_payment_that_comes_while_the_order_is_being_closed() throws Exception {
        orders.slow = true;
        template.sendBody("direct:orderPlaced", "A-1");
        makeDue("orders");
        assertThat(orders.closing.await(10, TimeUnit.SECONDS)).isTrue();
        template.sendBody("direct:orderPaid", "A-1");
        assertThat(orders.askedForRefund).containsExactly("A-1");
        orders.goOn.countDown();
        await().until(() -> isEmpty("orders"));
        assertThat(orders.state).containsEntry("A-1", "paid");
    }

    @Test
    void should_tell_a_payment_of_an_order_whose_closing_failed_for_good() throws Exception {
        orders.broken = true;
        template.sendBodyAndHeader("direct:orderPlaced", "A-1", "CamelRedisDelayMaximumRedeliveries", 0);
        makeDue("orders");
        await().until(() -> stats("orders").dead() == 1);
        Exchange paid = template.request("direct:orderPaid", e -> e.getMessage().setBody("A-1"));
        assertThat(paid.getMessage().getHeader("CamelRedisDelayPreviousState")).isEqualTo("dead");
        assertThat(paid.getMessage().getHeader("CamelRedisDelayDeadLetterId", String.class))
                .startsWith("A-1@");
        assertThat(orders.state).containsEntry("A-1", "paid");
        assertThat(orders.askedForRefund).containsExactly("A-1");
    }

    @Test
    void should_tell_a_payment_that_comes_too_late() throws Exception {
        template.sendBody("direct:orderPlaced", "A-1");
        makeDue("orders");
        await().until(() -> isEmpty("orders"));
        template.sendBody("direct:orderPaid", "A-1");
        assertThat(orders.askedForRefund).containsExactly("A-1");
        assertThat(orders.state).containsEntry("A-1", "closed");
    }
}
