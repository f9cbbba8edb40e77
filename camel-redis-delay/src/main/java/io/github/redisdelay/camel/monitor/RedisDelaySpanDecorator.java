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
    private static final String MESSAGE_GROUP = "messaging.redis_delay.message.group";
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
        // A route that sends still has what it has received among its headers.
        boolean received = endpoint == exchange.getFromEndpoint();
        String id = RedisDelayConstants.SCHEDULE_ID;
        tag(span, TagConstants.MESSAGE_ID, exchange, id, received ? RedisDelayConstants.MESSAGE_ID : id);
        String group = RedisDelayConstants.GROUP;
        tag(span, MESSAGE_GROUP, exchange, group, received ? RedisDelayConstants.MESSAGE_GROUP : group);
    }

    /** Tags a span with one of two headers, if it is there. */
    private static void tag(Span span, String tag, Exchange exchange, String header, String otherwise) {
        Object value =
                exchange.getMessage().getHeader(header, exchange.getMessage().getHeader(otherwise));
        if (value instanceof String text) {
            span.setTag(tag, text);
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
