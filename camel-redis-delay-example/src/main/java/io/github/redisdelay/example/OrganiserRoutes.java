// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;

/**
 * Plays the organisers of the programme's events: each plans, moves or cancels an event when it is time.
 *
 * <p>When that is, is kept in a queue, so that organisers too carry on after a restart.
 */
final class OrganiserRoutes extends RouteBuilder {

    private final List<DataSet.Act> programme;
    private final ShopTime time;
    private final Clock clock;

    /**
     * A step of the programme.
     *
     * @param place its place there, which is the version of the plan too
     */
    record Intention(int place, DataSet.Act step) {
        /** The id in the queue. */
        public String id() {
            return "step-" + place;
        }
    }

    OrganiserRoutes(List<DataSet.Act> programme, ShopTime time, Clock clock) {
        this.programme = programme;
        this.time = time;
        this.clock = clock;
    }

    @Override
    public void configure() {
        from("timer:organisers?repeatCount=1&delay=500")
                .routeId("organisers-intend")
                .setVariable("start")
                .exchange(exchange -> clock.instant())
                .setBody(exchange -> intentions())
                .split(body())
                .stopOnException()
                .setVariable("event", simple("${body.step.event}"))
                .setVariable("intention", body())
                // Known events have their steps in the queue from last time.
                .to("sql:classpath:sql/find-event.sql?outputType=SelectOne")
                .filter(body().isNull())
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, simple("${variable.intention.id}"))
                .setHeader(RedisDelayConstants.DELIVER_AT)
                .exchange(exchange -> at(exchange, step(exchange).after()))
                .setHeader("id", variable("event"))
                .setHeader(ReminderRoutes.VERSION, simple("${variable.intention.place}", Long.class))
                .choice()
                .when(simple("${variable.intention.step.startsAfter} == null"))
                .setBody(constant((Object) null))
                .otherwise()
                .setBody(this::plan)
                .marshal()
                .json()
                .end()
                .to("redis-delay:organisers?onDuplicate=ignore");

        // The requests are the headers id and version, and the plan; without a plan the event is cancelled.
        from("redis-delay:organisers?redeliveryDelay=1s")
                .routeId("organisers-act")
                .choice()
                .when(body().isNull())
                .to("direct:cancel-event")
                .otherwise()
                .to("direct:plan-event");
    }

    /** An event's first step last: as soon as the event is known, all that is to be done with it is in the queue. */
    private List<Intention> intentions() {
        List<Intention> intentions = new ArrayList<>();
        for (int i = programme.size() - 1; i >= 0; i--) {
            intentions.add(new Intention(i, programme.get(i)));
        }
        return intentions;
    }

    private Event plan(Exchange exchange) {
        DataSet.Act step = step(exchange);
        return new Event(step.title(), at(exchange, step.startsAfter()).toString());
    }

    private Instant at(Exchange exchange, String after) {
        return exchange.getVariable("start", Instant.class).plus(time.real(after));
    }

    private static DataSet.Act step(Exchange exchange) {
        return exchange.getVariable("intention", Intention.class).step();
    }
}
