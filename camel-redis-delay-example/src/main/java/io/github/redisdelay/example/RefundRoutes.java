// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import java.util.List;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/**
 * Returns payments that came too late: asks the bank to, and then looks again and again whether it has. If the bank
 * says so by itself before, there is no further look.
 */
final class RefundRoutes extends RouteBuilder {

    /** The waits after each look, in the shop's time. The last step repeats. */
    static final String STEPS = "5s,30s,2m,10m,30m,1h,2h";

    private static final String BANK = "http://localhost:{{http.port}}/bank/refunds/${variable.refund}";

    private final List<Duration> steps;

    /** @param steps the real waits after each look */
    RefundRoutes(List<Duration> steps) {
        this.steps = steps;
    }

    @Override
    public void configure() {
        // The exception reaches whoever called, or is the reason why the bank is asked again.
        onException(Exception.class).logExhausted(false);

        // Every step may be taken twice: a caller that was interrupted calls again.
        from("direct:refund")
                .routeId("begin-refund")
                .errorHandler(noErrorHandler()) // The caller knows what to do.
                .setVariable("refund", body())
                .to("sql:classpath:sql/begin-refund.sql")
                .removeHeaders("*")
                .setBody(constant((Object) null))
                .toD(BANK + "?httpMethod=PUT")
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("refund"))
                .setBody(variable("refund"))
                .to("redis-delay:refunds?onDuplicate=ignore");

        from("redis-delay:refunds?concurrentConsumers=8&redeliveryDelay=1s&maximumRedeliveries=50")
                .routeId("look-for-refund")
                .autoStartup("{{consume}}")
                .setVariable("refund", body())
                .setVariable("look", header(RedisDelayConstants.ATTEMPT))
                .removeHeaders("*")
                .setBody(constant((Object) null))
                .toD(BANK + "?httpMethod=GET")
                .unmarshal()
                .json()
                .choice()
                .when(simple("${body[status]} == 'PENDING'"))
                // Not an error, and yet not done: the message comes again by the steps.
                .setProperty(RedisDelayConstants.RETRY_AFTER)
                .exchange(exchange -> steps.get(Math.min(exchange.getVariable("look", int.class), steps.size()) - 1))
                .endChoice()
                .otherwise()
                .setVariable("foundBy", constant("look"))
                .to("sql:classpath:sql/finish-refund.sql")
                // Nothing is changed where the bank was faster.
                .filter(header("CamelSqlUpdateCount").isGreaterThan(0))
                .log(
                        LoggingLevel.INFO,
                        Story.REFUNDS,
                        "refund   ${variable.refund}  is done, seen at look ${variable.look}")
                .end()
                .end();

        from("direct:refund-notification")
                .routeId("refund-notification")
                .errorHandler(noErrorHandler()) // The bank sends it again.
                .setVariable("refund", header("id"))
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("refund"))
                .to("redis-delay:refunds?operation=cancel")
                .setVariable("looking", header(RedisDelayConstants.PREVIOUS_STATE))
                .setVariable("foundBy", constant("bank"))
                .to("sql:classpath:sql/finish-refund.sql")
                .filter(header("CamelSqlUpdateCount").isGreaterThan(0))
                .choice()
                .when(variable("looking").isEqualTo("delayed"))
                .log(
                        LoggingLevel.INFO,
                        Story.REFUNDS,
                        "refund   ${variable.refund}  is done, says the bank; the next look is cancelled")
                .when(variable("looking").isEqualTo("leased"))
                // Cancelled all the same: what this look finds is not acted on, and no other follows.
                .log(
                        LoggingLevel.INFO,
                        Story.REFUNDS,
                        "refund   ${variable.refund}  is done, says the bank in the middle of a look; it is the last")
                .otherwise()
                .log(
                        LoggingLevel.INFO,
                        Story.REFUNDS,
                        "refund   ${variable.refund}  is done, says the bank; nobody was looking")
                .end()
                .end();
    }
}
