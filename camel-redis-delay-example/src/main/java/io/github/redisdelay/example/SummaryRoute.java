// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Sums up every few seconds. */
final class SummaryRoute extends RouteBuilder {

    private final Summary summary;

    SummaryRoute(Summary summary) {
        this.summary = summary;
    }

    @Override
    public void configure() {
        from("timer:summary?delay=5s&period=5s")
                .routeId("sum-up")
                .bean(summary, "news")
                .split(body())
                .log(LoggingLevel.INFO, Story.SHOP, "-------- ${body}");
    }
}
