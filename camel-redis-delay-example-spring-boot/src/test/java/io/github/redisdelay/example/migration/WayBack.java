// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration;

import org.apache.camel.builder.RouteBuilder;
import org.redisson.api.RBlockingQueue;
import org.springframework.stereotype.Component;

@Component
public class WayBack extends RouteBuilder {

    private final RBlockingQueue<String> queue;

    public WayBack(RBlockingQueue<String> queue) {
        this.queue = queue;
    }

    @Override
    public void configure() {
        from("redis-delay:orders")
                .routeId("way-back")
                .process(exchange -> queue.add(exchange.getMessage().getBody(String.class)));
    }
}
