// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;

public class Orders extends RouteBuilder {

    @Override
    public void configure() {
        // Customers place three orders, one a second. Each is to be closed in 10 seconds.
        from("timer:customers?period=1000&repeatCount=3&includeMetadata=true")
                .setBody(simple("order-${exchangeProperty.CamelTimerCounter}"))
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:orders?delay=10s&onDuplicate=ignore")
                .log("${body} is placed");

        // After 5 seconds the second one is paid: it is not to be closed.
        from("timer:payment?delay=5000&repeatCount=1")
                .setHeader("CamelRedisDelayScheduleId", constant("order-2"))
                .to("redis-delay:orders?operation=cancel")
                .log("order-2 is paid, its closing was ${header.CamelRedisDelayPreviousState}");

        // Redis delivers what is due.
        from("redis-delay:orders").log("${body} was not paid in time, closed");
    }

    public static void main(String[] args) throws Exception {
        Main main = new Main();
        main.configure().addRoutesBuilder(Orders.class);
        main.run(args);
    }
}
