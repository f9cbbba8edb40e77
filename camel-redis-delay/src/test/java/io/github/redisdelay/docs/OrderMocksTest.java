// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisExtension;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.AdviceWith;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.mock.MockEndpoint;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.apache.camel.test.junit5.TestExecutionConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example of {@code docs/testing.md} with Camel's mocks. */
class OrderMocksTest extends CamelTestSupport {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Override
    protected void bindToRegistry(Registry registry) {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        registry.bind("redis-delay", component);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:orderPlaced").routeId("order-placed").to("redis-delay:orders?delay=30m");
                from("redis-delay:orders").routeId("close-unpaid").to("bean:closeIfUnpaid");
            }
        };
    }

    @Override
    public void configureTest(TestExecutionConfiguration configuration) {
        super.configureTest(configuration);
        configuration.withUseAdviceWith(true); // the context starts when a test has changed its routes
    }

    @Test
    void aDueOrderReachesTheBean() throws Exception {
        AdviceWith.adviceWith(context, "close-unpaid", advice -> advice.weaveByToUri("bean:closeIfUnpaid")
                .replace()
                .to("mock:closeIfUnpaid"));
        context.start();
        MockEndpoint closed = getMockEndpoint("mock:closeIfUnpaid");
        closed.expectedBodiesReceived("order A-1");
        closed.expectedHeaderReceived("CamelRedisDelayAttempt", 1);

        template.sendBody("direct:orderPlaced", "order A-1");
        template.sendBody("redis-delay:orders?operation=promote&all=true", null);

        closed.assertIsSatisfied(); // waits for up to 10 s
    }

    @Test
    void anOrderIsScheduledForHalfAnHour() throws Exception {
        AdviceWith.adviceWith(
                context, "order-placed", advice -> advice.weaveAddLast().to("mock:scheduled"));
        AdviceWith.adviceWith(context, "close-unpaid", advice -> {
            advice.replaceFromWith("direct:due");
            advice.weaveByToUri("bean:closeIfUnpaid").replace().to("mock:closeIfUnpaid");
        });
        context.start();
        MockEndpoint scheduled = getMockEndpoint("mock:scheduled");
        scheduled.expectedMessageCount(1);
        scheduled.message(0).header("CamelRedisDelayDueTime").isNotNull();

        template.sendBody("direct:orderPlaced", "order A-1");

        scheduled.assertIsSatisfied();
    }
}
