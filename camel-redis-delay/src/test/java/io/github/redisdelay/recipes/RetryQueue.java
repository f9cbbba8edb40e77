// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import java.io.IOException;
import org.apache.camel.builder.RouteBuilder;

/** Stores what a route could not do in a second queue, which tries again later. */
final class RetryQueue extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:invoices") // or jms:, kafka:, file:, platform-http: ...
                .onException(IOException.class)
                .useOriginalMessage()
                .handled(true)
                .to("redis-delay:retry?delay=10m")
                .end()
                .to("direct:bookInvoice");

        from("redis-delay:retry?redeliveryDelay=10m&backOffMultiplier=1&maximumRedeliveries=5")
                .to("direct:bookInvoice");

        from("direct:bookInvoice")
                .errorHandler(noErrorHandler()) // errors go to the route that called this one
                .to("bean:ledger?method=book");
        // end::routes[]
    }
}
