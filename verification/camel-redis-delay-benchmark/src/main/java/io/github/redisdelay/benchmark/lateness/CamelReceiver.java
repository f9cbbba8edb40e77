// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.camel.RedisDelayComponent;
import java.util.List;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.api.RedissonClient;

/** A context of its own with routes {@code redis-delay:} → a processor, one for each queue. */
public final class CamelReceiver implements AutoCloseable {

    private final DefaultCamelContext context = new DefaultCamelContext();

    private CamelReceiver() {}

    /**
     * Starts the routes.
     *
     * @param redisson stays the caller's
     * @param options of the consumers, such as {@code visibilityTimeout=5s}; empty for the defaults
     */
    public static CamelReceiver start(RedissonClient redisson, List<String> queues, String options, Processor processor)
            throws Exception {
        CamelReceiver receiver = new CamelReceiver();
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redisson);
        receiver.context.addComponent("redis-delay", component);
        String suffix = options.isEmpty() ? "" : "?" + options;
        receiver.context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                queues.forEach(queue -> from("redis-delay:" + queue + suffix).process(processor));
            }
        });
        receiver.context.start();
        return receiver;
    }

    @Override
    public void close() {
        context.stop();
    }
}
