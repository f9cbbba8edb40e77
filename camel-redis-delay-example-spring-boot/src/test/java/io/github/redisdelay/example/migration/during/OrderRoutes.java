// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.during;

import org.apache.camel.builder.RouteBuilder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

@Component
@ConditionalOnProperty(name = "orders.import", havingValue = "none", matchIfMissing = true)
public class OrderRoutes extends RouteBuilder {

    @Override
    public void configure() {
        from("redis-delay:orders?import.from=orders&import.codec=kryo5&import.id=body")
                .routeId("close-unpaid")
                .to("bean:orders?method=closeIfUnpaid");
    }
}
