// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.http.base.HttpOperationFailedException;

/**
 * Tells a partner what became of an order, by HTTP, again and again until it answers 200. After the last step, or if
 * the partner does not let the shop in, the notification is a dead letter, and ends in a table: somebody has to look.
 *
 * <p>The partner's URL travels with the message, as a header.
 */
final class NotificationRoutes extends RouteBuilder {

    /** The waits after each try, in the shop's time. */
    static final String STEPS = "15s,3m,10m,30m,30m,1h,2h,6h,15h";

    private final List<Duration> steps;
    private final RetryAfter retryAfter;

    /** @param steps the real waits after each try */
    NotificationRoutes(List<Duration> steps, RetryAfter retryAfter) {
        this.steps = steps;
        this.retryAfter = retryAfter;
    }

    @Override
    public void configure() {
        // Not handled: the delivery fails, and its message comes again by the steps. The component says so in a line.
        onException(Exception.class).logExhausted(false);
        onException(HttpOperationFailedException.class)
                .onWhen(simple("${exception.statusCode} == 429"))
                .logExhausted(false)
                .setProperty(RedisDelayConstants.RETRY_AFTER, method(retryAfter, "of"));
        onException(HttpOperationFailedException.class)
                .onWhen(simple("${exception.statusCode} == 403"))
                .logExhausted(false)
                // Another try would be of no use, until somebody has had a word with the partner.
                .setProperty(RedisDelayConstants.DEAD_LETTER_REASON, constant("the partner does not let us in"));

        from("direct:notify")
                .routeId("plan-notification")
                .errorHandler(noErrorHandler()) // The caller knows what to do.
                .setVariable("notification", body())
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, simple("${variable.notification.order}"))
                .setHeader(NotificationUrl.HEADER, simple("${variable.notification.url}"))
                .marshal()
                .json()
                // A caller that was interrupted does its work again: a notification that waits, or was sent a moment
                // ago, is enough.
                .to("redis-delay:notifications?onDuplicate=ignore&deduplicationPeriod=1h");

        from("redis-delay:notifications?concurrentConsumers=8&redeliveryDelays="
                        + steps.stream().map(step -> step.toMillis() + "ms").collect(Collectors.joining(",")))
                .routeId("notify-partner")
                .autoStartup("{{consume}}")
                .setVariable("order", header(RedisDelayConstants.MESSAGE_ID))
                .setVariable("attempt", header(RedisDelayConstants.ATTEMPT))
                .setVariable("url", header(NotificationUrl.HEADER))
                .setVariable("problem")
                .exchange(exchange -> NotificationUrl.problem(exchange.getVariable("url", String.class)))
                .choice()
                .when(variable("problem").isNotNull())
                // Checked when the order came in, and again: others may write to the queue. Another try would be of
                // no use.
                .setProperty(RedisDelayConstants.DEAD_LETTER_REASON, variable("problem"))
                .otherwise()
                .removeHeaders("*")
                .setHeader(Exchange.CONTENT_TYPE, constant("application/json"))
                .setHeader(PartnerRoutes.ATTEMPT, variable("attempt"))
                .toD("${variable.url}?httpMethod=POST&okStatusCodeRange=200&responseTimeout=1000")
                .log(
                        LoggingLevel.INFO,
                        Story.NOTIFICATIONS,
                        "notify   ${variable.order}  try ${variable.attempt}: delivered")
                .end();

        from("redis-delay:notifications?state=dead")
                .routeId("write-down-failed-notification")
                .autoStartup("{{consume}}")
                .to("sql:classpath:sql/fail-notification.sql");

        from("direct:failed-notifications")
                .routeId("failed-notifications")
                .to("sql:SELECT order_id, url, reason, failure, attempts FROM failed_notification ORDER BY order_id");

        from("direct:send-failed-again")
                .routeId("send-failed-again")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .to("sql:SELECT * FROM failed_notification ORDER BY order_id")
                .split(body())
                .stopOnException()
                .setVariable("failed", body())
                .setHeader(RedisDelayConstants.SCHEDULE_ID, simple("${variable.failed[ORDER_ID]}"))
                .setHeader(NotificationUrl.HEADER, simple("${variable.failed[URL]}"))
                .setBody(simple("${variable.failed[BODY]}"))
                .to("redis-delay:notifications?onDuplicate=ignore")
                // Not the row of a failure that is newer.
                .to("sql:classpath:sql/forget-failed-notification.sql")
                .end();
    }
}
