// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisExtension;
import java.net.ConnectException;
import java.util.Map;
import org.apache.camel.Processor;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example in {@code docs/testing.md} of a route that fails. */
class FailingOrderIT extends CamelTestSupport {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Override
    protected void bindToRegistry(Registry registry) {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        registry.bind("redis-delay", component);

        Processor closeIfUnpaid = exchange -> {
            throw new ConnectException("the database is away");
        };
        registry.bind("closeIfUnpaid", closeIfUnpaid);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new OrderRoutesTest.OrderRoutes();
    }

    @Test
    void anOrderThatCannotBeClosedIsGivenUp() {
        template.sendBody("direct:orderPlaced", "order A-1");
        for (int delivery = 1; delivery <= 10; delivery++) { // maximumRedeliveries is 9
            await().until(() -> promoted() == 1); // it was delayed, and is due now
        }
        await().until(() -> dead() == 1);
    }

    private int promoted() {
        return template.request("redis-delay:orders?operation=promote&all=true", e -> {})
                .getMessage()
                .getHeader("CamelRedisDelayCount", Integer.class);
    }

    private long dead() {
        Map<?, ?> stats = template.requestBody("redis-delay:orders?operation=stats", (Object) null, Map.class);
        return (Long) stats.get("dead");
    }
}
