// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.RedisDelayConstants;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.spi.EndpointServiceLocation;
import org.apache.camel.spi.InterceptSendToEndpoint;
import org.apache.camel.telemetry.Span;
import org.apache.camel.telemetry.TagConstants;
import org.apache.camel.telemetry.decorators.AbstractMessagingSpanDecorator;

/**
 * A decorator of Camel's traces: it names spans after their queue, and sets OpenTelemetry's attributes for messaging. camel-telemetry
 * finds it by its service file; without camel-telemetry nothing loads it.
 */
public class RedisDelaySpanDecorator extends AbstractMessagingSpanDecorator {

    private static final String SYSTEM = "messaging.system";
    private static final String SCHEME = "redis-delay";

    @Override
    public String getComponent() {
        return SCHEME;
    }

    @Override
    public String getComponentClassName() {
        return "io.github.redisdelay.camel.RedisDelayComponent"; // the component may have another name in its context
    }

    @Override
    public void beforeTracingEvent(Span span, Exchange exchange, Endpoint endpoint) {
        super.beforeTracingEvent(span, exchange, endpoint);
        span.setTag(SYSTEM, SCHEME);
        Object id = exchange.getMessage().getHeader(RedisDelayConstants.SCHEDULE_ID);
        // A route that sends still has the id of what it has received among its headers.
        if (id == null && endpoint == exchange.getFromEndpoint()) {
            id = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID);
        }
        if (id instanceof String text) {
            span.setTag(TagConstants.MESSAGE_ID, text);
        }
    }

    /** The queue of an endpoint, also of one whose messages a route intercepts, or that stands in for one in a test. */
    @Override
    protected String getDestination(Exchange exchange, Endpoint endpoint) {
        Endpoint queue = endpoint;
        while (queue instanceof InterceptSendToEndpoint intercepted) {
            queue = intercepted.getOriginalEndpoint();
        }
        return queue instanceof EndpointServiceLocation known && known.getServiceMetadata() != null
                ? known.getServiceMetadata().get("queueName")
                : super.getDestination(exchange, endpoint);
    }
}
