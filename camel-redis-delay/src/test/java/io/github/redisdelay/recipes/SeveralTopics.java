// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Keeps messages of several topics in one queue. */
final class SeveralTopics extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:later") // the header topic says what it is, the header wait for how long it waits
                .setHeader("CamelRedisDelayDelay", header("wait"))
                .to("redis-delay:later");

        from("redis-delay:later?concurrentConsumers=8")
                .validate(header("topic").regex("mail|push|letter"))
                .toD("direct:${header.topic}");

        from("direct:mail").to("bean:mail?method=send");
        from("direct:push").to("bean:push?method=send");
        from("direct:letter").to("bean:letters?method=print");
        // end::routes[]
    }
}
