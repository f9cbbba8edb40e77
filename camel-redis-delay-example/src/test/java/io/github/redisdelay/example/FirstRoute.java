// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import org.apache.camel.builder.RouteBuilder;

/** The README's first route in Java. */
class FirstRoute extends RouteBuilder {

    @Override
    public void configure() {
        // begin of the quotation
        from("direct:orderPlaced").marshal().json().to("redis-delay:orders?delay=30m");

        from("redis-delay:orders").unmarshal().json(Order.class).to("bean:closeIfUnpaid");
        // end of the quotation
    }
}
