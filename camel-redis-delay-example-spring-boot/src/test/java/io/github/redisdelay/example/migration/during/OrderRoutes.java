// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.during;

import org.apache.camel.builder.RouteBuilder;
import org.springframework.stereotype.Component;

@Component
public class OrderRoutes extends RouteBuilder {

    @Override
    public void configure() {
        from("redis-delay:orders?importFrom=orders&importCodec=kryo5&importId=body")
                .routeId("close-unpaid")
                .to("bean:orders?method=closeIfUnpaid");
    }
}
