// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Duration;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;

/**
 * Plays the partner: {@code POST /partner/notifications}, on the shop's port. It has bad moments, {@link PartnerMood} says
 * when. A second partner, {@value #GONE}, has switched its server off: its connections are refused.
 */
final class PartnerRoutes extends RouteBuilder {

    /** The header that tells the partner which try it is, 1 for the first. */
    static final String ATTEMPT = "Notification-Attempt";

    /** Nobody listens there. */
    static final String GONE = "http://localhost:1/partner/notifications";

    private final PartnerMood mood;
    private final Duration retryAfter;

    /** @param retryAfter what it asks for when it is asked too often */
    PartnerRoutes(PartnerMood mood, Duration retryAfter) {
        this.mood = mood;
        this.retryAfter = retryAfter;
    }

    /** The path at which it listens, on the shop's port. */
    static String url(int httpPort) {
        return "http://localhost:" + httpPort + "/partner/notifications";
    }

    @Override
    public void configure() {
        rest("/partner").post("/notifications").to("direct:partner");

        from("direct:partner")
                .routeId("partner")
                .setVariable("attempt", header(ATTEMPT).convertTo(Integer.class))
                .unmarshal()
                .json(Notification.class)
                .setVariable("told", body())
                .removeHeaders("*")
                .setVariable("answer")
                .exchange(exchange -> mood.answer(
                                exchange.getVariable("told", Notification.class).order(),
                                exchange.getVariable("attempt", Integer.class))
                        .name())
                .choice()
                .when(variable("answer").isEqualTo(PartnerMood.Answer.OK.name()))
                // It may be told twice: what it knows it keeps.
                .to("sql:classpath:sql/receive-notification.sql")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(200))
                .when(variable("answer").isEqualTo(PartnerMood.Answer.SERVER_ERROR.name()))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(500))
                .when(variable("answer").isEqualTo(PartnerMood.Answer.TOO_MANY_REQUESTS.name()))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(429))
                .setHeader("Retry-After", constant(Math.max(1, retryAfter.toSeconds())))
                .otherwise()
                // Longer than the shop waits for an answer (application.properties).
                .delay(1_500)
                .asyncDelayed()
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(503))
                .end()
                .setBody(constant(""));
    }
}
