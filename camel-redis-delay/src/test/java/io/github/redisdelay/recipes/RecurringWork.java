// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.apache.camel.builder.RouteBuilder;

/** Works again and again at fixed times, in one place, until it is cancelled. */
final class RecurringWork extends RouteBuilder {

    // tag::routes[]
    public record Rhythm(Duration period, InstantSource clock) {
        public Instant next(Instant planned) { // the first one of the future, on the same grid
            long missed = Duration.between(planned, clock.instant()).dividedBy(period);
            return planned.plus(period.multipliedBy(Math.max(missed, 0) + 1));
        }
    }
    // end::routes[]

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:startReport") // the body is the report's name, the header planned its first time, an Instant
                .setHeader("CamelRedisDelayScheduleId", body())
                .setHeader("CamelRedisDelayDeliverAt", header("planned"))
                .to("redis-delay:beats?onDuplicate=ignore"); // one for each report, however many JVMs start it

        from("redis-delay:beats?maximumRedeliveries=-1")
                .setHeader("CamelRedisDelayScheduleId", simple("${body}@${header.planned}"))
                .to("redis-delay:reports?onDuplicate=ignore&deduplicationPeriod=1h") // the work of this round, once
                .setHeader("planned", method("rhythm", "next(${header.planned})"))
                .setHeader("CamelRedisDelayScheduleId", body())
                .setHeader("CamelRedisDelayDeliverAt", header("planned"))
                .to("redis-delay:beats"); // the next round takes the place of this one

        from("redis-delay:reports?redeliveryDelays=1m,5m,15m").to("bean:reports?method=make");

        from("direct:stopReport")
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:beats?operation=cancel");
        // end::routes[]
    }
}
