// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.after;

import org.apache.camel.builder.RouteBuilder;
import org.springframework.stereotype.Component;

/** The consumer when the old queue is empty. */
@Component
public class OrderRoutes extends RouteBuilder {

    @Override
    public void configure() {
        from("redis-delay:orders").routeId("close-unpaid").to("bean:orders?method=closeIfUnpaid");
    }
}
