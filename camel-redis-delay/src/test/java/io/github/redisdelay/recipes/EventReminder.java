// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Reminds of an event an hour before it begins, wherever it is moved to. */
final class EventReminder extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:eventPlanned") // also for an event that was moved and whose text has changed
                .setHeader("CamelRedisDelayScheduleId", header("eventId"))
                .setHeader("CamelRedisDelayDeliverAt", method("calendar", "anHourBefore(${header.begins})"))
                .to("redis-delay:reminders?onDuplicate=replace");

        from("direct:eventMoved")
                .setHeader("CamelRedisDelayScheduleId", header("eventId"))
                .setHeader("CamelRedisDelayDeliverAt", method("calendar", "anHourBefore(${header.begins})"))
                .to("redis-delay:reminders?operation=reschedule")
                .filter(header("CamelRedisDelayPreviousState").isNotEqualTo("delayed"))
                .log("${header.eventId} was moved after its reminder had gone out");

        from("direct:eventCancelled")
                .setHeader("CamelRedisDelayScheduleId", header("eventId"))
                .to("redis-delay:reminders?operation=cancel");

        from("redis-delay:reminders").to("bean:mail?method=remind"); // the body and the headers are the event's
        // end::routes[]
    }
}
