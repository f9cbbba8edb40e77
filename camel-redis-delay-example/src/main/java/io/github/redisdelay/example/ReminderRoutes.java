// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Reminds of each event an hour before it starts: also after it was moved, and not at all after it was cancelled. */
final class ReminderRoutes extends RouteBuilder {

    /** The time before the event, in the shop's time. */
    static final Duration AHEAD = Duration.ofHours(1);

    /** Of a plan: which of two is the newer one. By default the time of the request. */
    static final String VERSION = "version";

    private static final String STARTS_AT = "startsAt";

    private static final String UPDATED_ROWS = "CamelSqlUpdateCount";

    /** However fast time passes in the shop, a machine may be busy for a moment. */
    private static final Duration LEAST_TIME_TO_LIVE = Duration.ofSeconds(10);

    private final Duration ahead;
    private final Duration timeToLive;
    private final Clock clock;

    ReminderRoutes(ShopTime time, Clock clock) {
        this.ahead = time.real(AHEAD);
        this.timeToLive = ahead.compareTo(LEAST_TIME_TO_LIVE) < 0 ? LEAST_TIME_TO_LIVE : ahead;
        this.clock = clock;
    }

    @Override
    public void configure() {
        from("direct:plan-event")
                .routeId("plan-event")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .setVariable("event", header("id"))
                .setVariable(VERSION)
                .exchange(this::version)
                .unmarshal()
                .json(Event.class)
                .setVariable("title", simple("${body.title}"))
                .setVariable(STARTS_AT)
                .exchange(exchange -> exchange.getMessage().getBody(Event.class).start())
                .to("sql:classpath:sql/find-event.sql?outputType=SelectOne")
                .setVariable("before", body())
                .to("sql:classpath:sql/plan-event.sql")
                .choice()
                .when(header(UPDATED_ROWS).isEqualTo(0))
                .log(LoggingLevel.INFO, Story.REMINDERS, "event    ${variable.event}  an older plan is passed by")
                .otherwise()
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("event"))
                .setHeader(RedisDelayConstants.DELIVER_AT)
                .exchange(exchange ->
                        exchange.getVariable(STARTS_AT, Instant.class).minus(ahead))
                .setHeader(STARTS_AT, variable(STARTS_AT))
                .setBody(variable("title"))
                // When the event has begun, it is of no use any more.
                .setHeader(RedisDelayConstants.TIME_TO_LIVE, constant(timeToLive))
                // This one replaces an earlier reminder, be that one waiting, being sent or gone.
                .to("redis-delay:reminders?onDuplicate=replace")
                .setVariable("done", constant("moved to"))
                .filter(variable("before").isNull())
                .setVariable("done", constant("planned for"))
                .end()
                .log(
                        LoggingLevel.INFO,
                        Story.REMINDERS,
                        "event    ${variable.event}  ${variable.title}: ${variable.done} ${variable.startsAt}")
                .end();

        from("direct:cancel-event")
                .routeId("cancel-event")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .setVariable("event", header("id"))
                .setVariable(VERSION)
                .exchange(this::version)
                .to("sql:classpath:sql/cancel-event.sql")
                .setVariable("cancelled", header(UPDATED_ROWS))
                .filter(variable("cancelled").isGreaterThan(0))
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("event"))
                .to("redis-delay:reminders?operation=cancel")
                .log(
                        LoggingLevel.INFO,
                        Story.REMINDERS,
                        "event    ${variable.event}  cancelled; of its reminder Redis said: ${header."
                                + RedisDelayConstants.PREVIOUS_STATE + "}")
                .end();

        from("redis-delay:reminders?concurrentConsumers=4&onExpiry=drop")
                .routeId("send-reminder")
                .autoStartup("{{consume}}")
                .setVariable("event", header(RedisDelayConstants.MESSAGE_ID))
                .setVariable("title", body())
                .setVariable(STARTS_AT, header(STARTS_AT))
                .setVariable("late", header(RedisDelayConstants.LATENESS))
                // The database has the last word: the event may have been moved or cancelled a moment ago.
                .to("sql:classpath:sql/send-reminder.sql")
                .choice()
                .when(header(UPDATED_ROWS).isGreaterThan(0))
                .log(
                        LoggingLevel.INFO,
                        Story.REMINDERS,
                        "reminder ${variable.event}  ${variable.title} starts in an hour, at ${variable.startsAt}"
                                + " (${variable.late} ms late)")
                .otherwise()
                .log(
                        LoggingLevel.INFO,
                        Story.REMINDERS,
                        "reminder ${variable.event}  not sent: it was sent before, or the event was moved or cancelled a"
                                + " moment ago")
                .end();
    }

    private Long version(Exchange exchange) {
        Long version = exchange.getMessage().getHeader(VERSION, Long.class);
        return version == null ? (Long) clock.millis() : version;
    }
}
