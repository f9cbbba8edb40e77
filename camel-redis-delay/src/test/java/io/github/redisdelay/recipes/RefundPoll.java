// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Looks by steps whether a refund is done. */
final class RefundPoll extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:refundRequested") // the body is the refund's id
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:refunds?delay=5s&onDuplicate=ignore");

        from("redis-delay:refunds?redeliveryDelays=10s,30s,2m,10m,30m,1h&maximumRedeliveries=50")
                .setHeader("refund", body())
                .to("bean:provider?method=refundStatus") // the body is the refund's status now
                .choice()
                .when(body().isEqualTo("PENDING"))
                .markRollbackOnly() // ask again at the next step
                .otherwise()
                .to("bean:refunds?method=finish(${header.refund}, ${body})")
                .end();

        from("direct:refundNotification") // the provider reports it: stop asking
                .setHeader("CamelRedisDelayScheduleId", header("refund"))
                .to("redis-delay:refunds?operation=cancel")
                .to("bean:refunds?method=finish(${header.refund}, ${body})");
        // end::routes[]
    }
}
