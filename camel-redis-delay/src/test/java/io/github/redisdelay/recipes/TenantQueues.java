// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import java.util.List;
import org.apache.camel.builder.RouteBuilder;

/** Has a queue for each tenant, chosen by the message. */
final class TenantQueues extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:export") // the header tenant says for whom
                .validate(header("tenant").regex("[a-z0-9-]{1,40}"))
                .setHeader("CamelRedisDelayDelay", header("wait"))
                .toD("redis-delay:export.${header.tenant}?maximumQueueLength=10000");

        for (String tenant : List.of("acme", "globex")) { // a consumer cannot be dynamic: one for each
            from("redis-delay:export." + tenant + "?concurrentConsumers=2")
                    .routeId("export-" + tenant)
                    .to("bean:exports?method=run");
        }
        // end::routes[]
    }
}
