// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.redisdelay.test.RedisExtension;
import org.apache.camel.CamelContext;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example in {@code docs/testing.md} of a route that has a placeholder for its queue. */
class UniqueQueueIT extends CamelTestSupport {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Override
    protected CamelContext createCamelContext() throws Exception {
        CamelContext camel = super.createCamelContext();
        camel.getPropertiesComponent().addInitialProperty("orders.queue", redis.uniqueQueue());
        return camel;
    }

    @Override
    protected void bindToRegistry(Registry registry) {
        registry.bind("redisson", redis.client());
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:orderPlaced").to("redis-delay:{{orders.queue}}?delay=30m");
                from("direct:waiting")
                        .to("redis-delay:{{orders.queue}}?operation=stats")
                        .setBody(simple("${body[delayed]}"));
            }
        };
    }

    @RepeatedTest(2)
    void aQueueIsNewForEachTest() {
        template.sendBody("direct:orderPlaced", "order A-1");
        assertEquals(1, template.requestBody("direct:waiting", null, Integer.class));
    }
}
