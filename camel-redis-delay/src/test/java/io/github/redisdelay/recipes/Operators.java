// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** The questions of those who operate a queue. */
final class Operators extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:queues").to("redis-delay:any?operation=queues"); // a List of Maps: all queues, the last used first
        from("direct:stats").to("redis-delay:orders?operation=stats"); // the body becomes a Map

        from("direct:find") // the body is an id; it becomes the stored message
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:orders?operation=get");

        from("direct:inWork").to("redis-delay:orders?operation=list&state=leased"); // a List of Maps
        from("direct:deadLetters").to("redis-delay:orders?operation=list&state=dead&limit=20");

        from("direct:pause").to("redis-delay:orders?operation=pause"); // no consumer anywhere claims a message
        from("direct:resume").to("redis-delay:orders?operation=resume");

        from("direct:redriveTimeouts") // dead letters of this exception, and no others, are delivered again
                .to("redis-delay:orders?operation=redrive&failureException=java.net.SocketTimeoutException")
                .log("${header.CamelRedisDelayCount} dead letters are delivered again");
        from("direct:purgeDeadLetters") // all: this cannot be undone
                .to("redis-delay:orders?operation=purge&all=true")
                .log("${header.CamelRedisDelayCount} dead letters were dropped");

        from("timer:watch?period=1m").to("direct:watch");
        from("direct:watch")
                .to("redis-delay:orders?operation=stats")
                .filter(simple("${body[overdue]} > 0 && ${body[consumers]} == 0"))
                .log(LoggingLevel.ERROR, "orders: ${body[overdue]} messages are overdue, without a consumer")
                .to("bean:pager?method=call");
        // end::routes[]
    }
}
