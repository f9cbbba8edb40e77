// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.option.OwnModule;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;

/** The queues of a component in JMX, by the module {@code camel-redis-delay-console}; without it there are none. Thread-safe. */
public interface QueueBeans {

    QueueBeans NONE = new QueueBeans() {};

    /** Shows the queue of an endpoint that was started. */
    default void add(Endpoint endpoint) {}

    /** Takes the queue of an endpoint that was stopped out of JMX, if no other endpoint leads to it. */
    default void remove(Endpoint endpoint) {}

    static QueueBeans of(CamelContext context) {
        return OwnModule.find(context, "camel-redis-delay-console", QueueBeans.class)
                .orElse(NONE);
    }
}
