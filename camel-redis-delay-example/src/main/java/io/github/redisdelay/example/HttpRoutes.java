// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.List;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/**
 * The shop by HTTP: {@code POST /orders}, {@code POST /orders/{id}/payment} and {@code GET /orders/{id}}; {@code PUT}
 * and {@code DELETE /events/{id}}; {@code GET /notifications/failed}, and {@code POST} to send them again; and for the
 * bank {@code POST /refunds/{id}/notification}.
 *
 * <p>Each request is answered when Redis has confirmed its step; 503 means that the same request can safely be sent
 * again.
 */
final class HttpRoutes extends RouteBuilder {

    private final OrderBook book;

    HttpRoutes(OrderBook book) {
        this.book = book;
    }

    @Override
    public void configure() {
        restConfiguration()
                .component("jetty")
                .host("localhost")
                .port("{{http.port}}")
                // The body is JSON even where a client (curl -d) says that it is a form.
                .endpointProperty("mapHttpMessageFormUrlEncodedBody", "false");

        rest("/orders")
                .post()
                .to("direct:http-order")
                .post("/{id}/payment")
                .to("direct:http-payment")
                .get("/{id}")
                .to("direct:http-state");

        rest("/events").put("/{id}").to("direct:http-event").delete("/{id}").to("direct:http-no-event");

        rest("/refunds").post("/{id}/notification").to("direct:http-refund");

        rest("/notifications")
                .get("/failed")
                .to("direct:http-failed")
                .post("/failed")
                .to("direct:http-failed-again");

        onException(JsonProcessingException.class, IllegalArgumentException.class)
                .handled(true)
                .setBody(exchange -> error(exchange, "bad request"))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(400))
                .to("direct:http-answer");
        onException(Exception.class)
                .handled(true)
                .log(LoggingLevel.WARN, Story.SHOP, "failed   ${exception.message}")
                .setBody(exchange -> error(exchange, "not possible now, send it again"))
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(503))
                .to("direct:http-answer");

        from("direct:http-order").routeId("http-order").to("direct:order").to("direct:http-answer");

        from("direct:http-payment")
                .routeId("http-payment")
                .to("direct:payment")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, simple("${body.status}"))
                .to("direct:http-answer");

        from("direct:http-state").routeId("http-state").process(this::state).to("direct:http-answer");

        from("direct:http-event")
                .routeId("http-event")
                .removeHeader(ReminderRoutes.VERSION)
                .to("direct:plan-event")
                .setBody(exchange -> Map.of("event", exchange.getVariable("event")))
                .to("direct:http-answer");

        from("direct:http-no-event")
                .routeId("http-no-event")
                .removeHeader(ReminderRoutes.VERSION)
                .to("direct:cancel-event")
                .setBody(exchange -> Map.of("event", exchange.getVariable("event")))
                .setHeader(Exchange.HTTP_RESPONSE_CODE)
                .exchange(exchange -> exchange.getVariable("cancelled", int.class) > 0 ? 200 : 404)
                .to("direct:http-answer");

        from("direct:http-refund")
                .routeId("http-refund")
                .to("direct:refund-notification")
                .setBody(exchange -> Map.of("refund", exchange.getVariable("refund")))
                .to("direct:http-answer");

        from("direct:http-failed")
                .routeId("http-failed")
                .to("direct:failed-notifications")
                .to("direct:http-answer");

        from("direct:http-failed-again")
                .routeId("http-failed-again")
                .to("direct:send-failed-again")
                .setBody(exchange -> Map.of(
                        "sentAgain", exchange.getMessage().getBody(List.class).size()))
                .to("direct:http-answer");

        from("direct:http-answer")
                .routeId("http-answer")
                .marshal()
                .json()
                .setProperty("status", header(Exchange.HTTP_RESPONSE_CODE))
                .removeHeaders("*")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, exchangeProperty("status"))
                .setHeader(Exchange.CONTENT_TYPE, constant("application/json"));
    }

    private void state(Exchange exchange) {
        String id = exchange.getMessage().getHeader("id", String.class);
        exchange.getMessage()
                .setBody(Map.of(
                        "order",
                        id,
                        "state",
                        book.state(id).map(OrderBook.State::name).orElse("UNKNOWN")));
        exchange.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, book.knows(id) ? 200 : 404);
    }

    /** The innermost message: Jackson wraps what an order's own checks say. */
    private static Map<String, String> error(Exchange exchange, String error) {
        Throwable cause = exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Throwable.class);
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return Map.of("error", error, "reason", String.valueOf(cause.getMessage()));
    }
}
