// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Schedules what a database transaction has left in its outbox table. */
final class Outbox extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("timer:outbox?period=1s")
                .to("bean:outbox?method=unsent") // SELECT id, due, payload FROM outbox ORDER BY id LIMIT 500
                .split(body())
                .stopOnException()
                .setProperty("rowId", simple("${body.id}"))
                .setHeader("CamelRedisDelayScheduleId", simple("${body.id}"))
                .setHeader("CamelRedisDelayDeliverAt", simple("${body.due}"))
                .setBody(simple("${body.payload}"))
                .to("redis-delay:events?onDuplicate=ignore&deduplicationPeriod=P7D")
                .to("bean:outbox?method=delete(${exchangeProperty.rowId})") // DELETE FROM outbox WHERE id = ?
                .end();

        from("redis-delay:events").to("bean:events?method=handle");
        // end::routes[]
    }
}
