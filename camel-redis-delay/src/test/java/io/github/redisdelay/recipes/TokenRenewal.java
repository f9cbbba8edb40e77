// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Renews a token of 60 minutes each 50 minutes. */
final class TokenRenewal extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:accountLinked") // the body is the account
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:tokens?delay=50m&onDuplicate=replace");

        from("redis-delay:tokens?redeliveryDelays=5s,15s,30s,1m,2m&maximumRedeliveries=-1") // the last step repeats
                .to("bean:accounts?method=renewToken") // returns nothing, so the body is still the account
                .setHeader("CamelRedisDelayScheduleId", header("CamelRedisDelayMessageId"))
                .to("redis-delay:tokens?delay=50m"); // takes the place of the message that is being worked on

        from("direct:accountUnlinked")
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:tokens?operation=cancel");
        // end::routes[]
    }
}
