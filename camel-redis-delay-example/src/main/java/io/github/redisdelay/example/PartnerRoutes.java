// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.example.PartnerMood.Answer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/**
 * Plays two partners, on the shop's port. The first, {@code POST /partner/notifications}, has bad moments;
 * {@link PartnerMood} says when. The second, {@code POST /warehouse/notifications}, is out of order until somebody
 * repairs it, {@code DELETE /warehouse/outage}: it has errors, or does not let the shop in, always the same for the
 * same order.
 */
final class PartnerRoutes extends RouteBuilder {

    /** The header that tells the partner which try it is, 1 for the first. */
    static final String ATTEMPT = "Notification-Attempt";

    private final PartnerMood mood;
    private final Duration retryAfter;
    private final AtomicBoolean outage = new AtomicBoolean(true);

    /** @param retryAfter what the first asks for when it is asked too often */
    PartnerRoutes(PartnerMood mood, Duration retryAfter) {
        this.mood = mood;
        this.retryAfter = retryAfter;
    }

    /** The path at which the first listens, on the shop's port. */
    static String url(int httpPort) {
        return "http://localhost:" + httpPort + "/partner/notifications";
    }

    /** The path of the second. */
    static String warehouse(int httpPort) {
        return "http://localhost:" + httpPort + "/warehouse/notifications";
    }

    @Override
    public void configure() {
        rest("/partner").post("/notifications").to("direct:partner");
        rest("/warehouse")
                .post("/notifications")
                .to("direct:warehouse")
                .delete("/outage")
                .to("direct:warehouse-repair");

        partner("partner", mood::answer);
        partner("warehouse", (order, attempt) -> outage(order));

        from("direct:warehouse-repair")
                .routeId("warehouse-repair")
                .process(exchange -> outage.set(false))
                .removeHeaders("*")
                .setBody(constant("{\"warehouse\":\"is in order again\"}"))
                .log(LoggingLevel.INFO, Story.NOTIFICATIONS, "warehouse  is in order again");
    }

    private Answer outage(String order) {
        if (!outage.get()) {
            return Answer.OK;
        }
        return order.hashCode() % 2 == 0 ? Answer.FORBIDDEN : Answer.SERVER_ERROR;
    }

    private void partner(String name, BiFunction<String, Integer, Answer> answers) {
        from("direct:" + name)
                .routeId(name)
                .setVariable("attempt", header(ATTEMPT).convertTo(Integer.class))
                .unmarshal()
                .json(Notification.class)
                .setVariable("told", body())
                .removeHeaders("*")
                .setVariable("answer")
                .exchange(exchange -> answers.apply(
                                exchange.getVariable("told", Notification.class).order(),
                                exchange.getVariable("attempt", Integer.class))
                        .name())
                .choice()
                .when(variable("answer").isEqualTo(Answer.OK.name()))
                // It may be told twice: what it knows it keeps.
                .to("sql:classpath:sql/receive-notification.sql")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(200))
                .when(variable("answer").isEqualTo(Answer.SERVER_ERROR.name()))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(500))
                .when(variable("answer").isEqualTo(Answer.FORBIDDEN.name()))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(403))
                .when(variable("answer").isEqualTo(Answer.TOO_MANY_REQUESTS.name()))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(429))
                .setHeader("Retry-After", constant(Math.max(1, retryAfter.toSeconds())))
                .otherwise()
                // Longer than the shop waits for an answer.
                .delay(2_500)
                .asyncDelayed()
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(503))
                .end()
                .setBody(constant(""));
    }
}
