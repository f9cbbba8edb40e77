// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Clock;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;

/**
 * Plays the bank, on the shop's port: {@code PUT /bank/refunds/{id}} asks for a refund, {@code GET} tells whether it is
 * {@code PENDING} or {@code DONE}. For some it notifies the shop when it is done.
 */
final class BankRoutes extends RouteBuilder {

    private final Bank bank;
    private final Clock clock;

    BankRoutes(Bank bank, Clock clock) {
        this.bank = bank;
        this.clock = clock;
    }

    @Override
    public void configure() {
        rest("/bank/refunds").put("/{id}").to("direct:bank-refund").get("/{id}").to("direct:bank-status");

        from("direct:bank-refund")
                .routeId("bank-refund")
                .setVariable("refund", header("id"))
                .removeHeaders("*")
                .setVariable("doneAt")
                .exchange(exchange -> clock.instant().plus(bank.takes(refund(exchange))))
                .to("sql:classpath:sql/accept-refund.sql")
                .filter(exchange -> bank.tells(refund(exchange)))
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("refund"))
                .setHeader(RedisDelayConstants.DELIVER_AT, variable("doneAt"))
                .setBody(variable("refund"))
                // Asked twice, it keeps to what it said first.
                .to("redis-delay:bank?onDuplicate=ignore")
                .end()
                .removeHeaders("*")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(202))
                .setBody(constant(""));

        from("direct:bank-status")
                .routeId("bank-status")
                .setVariable("refund", header("id"))
                .removeHeaders("*")
                // It takes its time, so that now and then it notifies the shop in the middle of a look.
                .delay(200)
                .asyncDelayed()
                .to("sql:classpath:sql/bank-status.sql?outputType=SelectOne")
                .removeHeaders("*")
                .choice()
                .when(body().isNull())
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(404))
                .setBody(constant(""))
                .otherwise()
                .setHeader(Exchange.CONTENT_TYPE, constant("application/json"))
                .setBody(simple("{\"status\":\"${body}\"}"))
                .end();

        from("redis-delay:bank?redeliveryDelay=1s&concurrentConsumers=4")
                .routeId("bank-notify")
                .setVariable("refund", body())
                .removeHeaders("*")
                .setBody(constant((Object) null))
                .toD("http://localhost:{{http.port}}/refunds/${variable.refund}/notification?httpMethod=POST");
    }

    private static String refund(Exchange exchange) {
        return exchange.getVariable("refund", String.class);
    }
}
