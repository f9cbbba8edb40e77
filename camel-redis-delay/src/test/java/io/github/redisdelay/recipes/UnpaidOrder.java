// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Closes an order that is not paid within 30 minutes. */
final class UnpaidOrder extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:orderPlaced") // the body is the order's id
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:orders?delay=30m&onDuplicate=ignore");

        from("direct:orderPaid") // the body is the order's id
                .to("bean:orders?method=paid") // UPDATE ... SET state = 'paid' WHERE id = ? AND state = 'open'
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:orders?operation=cancel")
                .choice()
                .when(header("CamelRedisDelayPreviousState").isEqualTo("delayed"))
                .log("${body}: paid in time")
                .when(header("CamelRedisDelayPreviousState").isEqualTo("leased"))
                .log("${body}: paid while it is being closed")
                .to("bean:orders?method=refundIfClosed")
                .when(header("CamelRedisDelayPreviousState").isEqualTo("dead")) // closing it failed for good
                .log("${body}: paid, and its closing is dead letter ${header.CamelRedisDelayDeadLetterId}")
                .to("bean:orders?method=refundIfClosed")
                .otherwise()
                .log("${body}: closed already, or its payment was reported twice")
                .to("bean:orders?method=refundIfClosed")
                .end();

        from("redis-delay:orders?concurrentConsumers=4")
                .to("bean:orders?method=close"); // UPDATE ... SET state = 'closed' WHERE id = ? AND state = 'open'
        // end::routes[]
    }
}
