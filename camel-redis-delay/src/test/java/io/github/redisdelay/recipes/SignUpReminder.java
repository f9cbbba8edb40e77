// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Reminds people to confirm their sign-up, once and not too late. */
final class SignUpReminder extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:signedUp") // the body is the user's id
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:sign-ups?delay=24h&timeToLive=12h&deduplicationPeriod=P30D&onDuplicate=ignore");

        from("direct:confirmed")
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:sign-ups?operation=cancel");

        from("redis-delay:sign-ups?onExpiry=drop&maximumRedeliveries=-1").to("bean:mail?method=remindToConfirm");
        // end::routes[]
    }
}
