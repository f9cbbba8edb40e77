// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisExtension;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OrderRoutesTest extends CamelTestSupport {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final BlockingQueue<String> checked = new LinkedBlockingQueue<>();

    @Override
    protected void bindToRegistry(Registry registry) {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix()); // each test has a queue "orders" of its own
        registry.bind("redis-delay", component);

        Processor closeIfUnpaid = exchange -> checked.add(exchange.getMessage().getBody(String.class));
        registry.bind("closeIfUnpaid", closeIfUnpaid);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new OrderRoutes();
    }

    // Stands for the routes of your application.
    static class OrderRoutes extends RouteBuilder {
        @Override
        public void configure() {
            from("direct:orderPlaced").to("redis-delay:orders?delay=30m");
            from("redis-delay:orders").to("bean:closeIfUnpaid");
        }
    }

    @Test
    void anOrderIsCheckedAfterHalfAnHour() throws Exception {
        long before = System.currentTimeMillis();
        Exchange placed =
                template.request("direct:orderPlaced", e -> e.getMessage().setBody("order A-1"));
        long due = placed.getMessage().getHeader("CamelRedisDelayDueTime", Long.class);
        assertEquals(30 * 60_000, due - before, 10_000); // give or take 10 s: due by the server's clock

        Exchange promoted = template.request("redis-delay:orders?operation=promote&all=true", e -> {});
        assertEquals(1, promoted.getMessage().getHeader("CamelRedisDelayCount", Integer.class));

        assertEquals("order A-1", checked.poll(10, SECONDS));
    }
}
