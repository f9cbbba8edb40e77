// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Asks carriers for the status of shipments, express ones more often. */
final class StatusSync extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:shipped") // the body is the tracking number
                .setHeader("CamelRedisDelayScheduleId", body())
                .choice()
                .when(header("service").isEqualTo("express"))
                .setHeader("CamelRedisDelayRedeliveryDelays", constant("10m,30m,1h,1h,2h,2h,6h"))
                .otherwise()
                .setHeader("CamelRedisDelayRedeliveryDelays", constant("6h,12h,1d,1d,2d,7d"))
                .end()
                .to("redis-delay:shipments?delay=10m&onDuplicate=ignore");

        from("redis-delay:shipments?concurrentConsumers=4")
                .to("bean:carriers?method=isDelivered") // asks the carrier, and stores what it says
                .filter(body().isEqualTo(false))
                .markRollbackOnly(); // ask again at the next step
        // end::routes[]
    }
}
