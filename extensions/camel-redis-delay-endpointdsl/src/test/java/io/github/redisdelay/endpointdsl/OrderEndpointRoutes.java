// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.endpointdsl;

import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.RedisDelayBuilders;
import org.apache.camel.builder.endpoint.EndpointRouteBuilder;

/** The routes of docs/tools.md, beside Camel's own builders. */
public class OrderEndpointRoutes extends EndpointRouteBuilder implements RedisDelayBuilders {
    @Override
    public void configure() {
        from(direct("orderPlaced"))
                .setHeader(redisDelay().redisDelayDeduplicationPeriod(), constant("1h"))
                .to(redisDelay("orders")
                        .delay("30m")
                        .priority("{{rank}}")
                        .advanced()
                        .maximumMessageSize(4096));

        from(redisDelay("orders").concurrentConsumers(2).advanced().maxMessagesPerPoll(5))
                .to(bean("closeIfUnpaid"));
    }
}
