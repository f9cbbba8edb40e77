// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Takes payments: each cancels the closing of its order, if that is not too late. */
final class PaymentRoutes extends RouteBuilder {

    private final PaymentDesk desk;

    PaymentRoutes(PaymentDesk desk) {
        this.desk = desk;
    }

    @Override
    public void configure() {
        from("direct:payment")
                .routeId("pay-order")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .setVariable("id", header("id"))
                .removeHeaders("*")
                .bean(desk, "begin(${variable.id})")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("id"))
                .to("redis-delay:orders?operation=cancel")
                .bean(desk, "finish(${variable.id}, ${header." + RedisDelayConstants.PREVIOUS_STATE + "})")
                .log(LoggingLevel.INFO, OrderRoutes.STORY, "payment  ${body.order}  ${body.message}");
    }
}
