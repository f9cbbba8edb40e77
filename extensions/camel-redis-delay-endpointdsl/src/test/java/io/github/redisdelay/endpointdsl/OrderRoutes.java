// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.endpointdsl;

import static io.github.redisdelay.endpointdsl.StaticEndpointBuilders.redisDelay;

import org.apache.camel.builder.RouteBuilder;

/** The routes of docs/tools.md, in a plain route builder. */
public class OrderRoutes extends RouteBuilder {
    @Override
    public void configure() {
        from("direct:orderPlaced").to(redisDelay("orders").delay("30m").priority("{{rank}}"));

        from(redisDelay("orders").concurrentConsumers(2)).to("bean:closeIfUnpaid");

        from(redisDelay("nightly").cron("0 2 * * *").timeZone("Europe/Berlin")).to("bean:reports");
    }
}
