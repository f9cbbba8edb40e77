// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.apache.camel.builder.RouteBuilder;
import org.springframework.stereotype.Component;

/** Closes each order at the end of its payment window. */
@Component
class OrderRoutes extends RouteBuilder {

    @Override
    public void configure() {
        from("direct:orderPlaced")
                .routeId("order-placed")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .marshal()
                .json()
                .to("redis-delay:orders?delay={{payment.window}}");

        from("redis-delay:orders")
                .routeId("close-unpaid")
                .unmarshal()
                .json(Order.class)
                .to("bean:closeIfUnpaid");
    }
}
