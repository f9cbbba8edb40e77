// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Sends login codes before newsletters. */
final class UrgentFirst extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:loginCode").to("redis-delay:sms?priority=9&timeToLive=5m");

        from("direct:newsletter").to("redis-delay:sms?delay=1h"); // priority 0

        from("redis-delay:sms?onExpiry=drop").to("bean:smsGateway?method=send");
        // end::routes[]
    }
}
