// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import org.apache.camel.builder.RouteBuilder;
import org.springframework.stereotype.Component;

@Component
public class OrderRoutes extends RouteBuilder {

    @Override
    public void configure() {
        from("direct:orderPlaced")
                .errorHandler(noErrorHandler()) // an error is the caller's
                .marshal()
                .json()
                .to("redis-delay:orders?delay={{payment.window}}&onDuplicate=ignore");

        from("redis-delay:orders")
                .routeId("close-unpaid")
                .unmarshal()
                .json(Order.class)
                .bean(OrderService.class, "closeIfUnpaid");
    }
}
