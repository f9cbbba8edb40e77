// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.apache.camel.AsyncProducer;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.api.RedissonClient;

/** Routes {@code direct:} → {@code redis-delay:}, one for each queue, called without waiting. */
public final class CamelSender implements AutoCloseable {

    private final DefaultCamelContext context = new DefaultCamelContext();
    private final InFlight inFlight = new InFlight(OpenLoop.UNDER_WAY);
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final List<AsyncProducer> producers = new ArrayList<>();

    /** Starts the routes. The client stays the caller's. */
    public static CamelSender start(RedissonClient redisson, List<String> queues) throws Exception {
        CamelSender sender = new CamelSender();
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redisson);
        sender.context.addComponent("redis-delay", component);
        sender.context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                queues.forEach(queue -> from("direct:" + queue).to("redis-delay:" + queue + "?synchronous=false"));
            }
        });
        sender.context.start();
        for (String queue : queues) {
            Endpoint endpoint = sender.context.getEndpoint("direct:" + queue);
            AsyncProducer producer = endpoint.createAsyncProducer();
            producer.start();
            sender.endpoints.add(endpoint);
            sender.producers.add(producer);
        }
        return sender;
    }

    /** Schedules a message for a time, in microseconds since 1970. */
    public void sendAt(int queue, long dueMicros, Object body) throws Exception {
        sendAt(queue, dueMicros, body, null);
    }

    /** @param group null for none */
    public void sendAt(int queue, long dueMicros, Object body, String group) throws Exception {
        send(queue, RedisDelayConstants.DELIVER_AT, Instant.EPOCH.plus(dueMicros, ChronoUnit.MICROS), body, group);
    }

    /** Schedules a message with a delay. */
    public void sendAfter(int queue, Duration delay, Object body) throws Exception {
        send(queue, RedisDelayConstants.DELAY, delay, body, null);
    }

    private void send(int queue, String header, Object value, Object body, String group) throws Exception {
        inFlight.begin();
        Exchange exchange = endpoints.get(queue).createExchange();
        exchange.getMessage().setBody(body);
        exchange.getMessage().setHeader(header, value);
        if (group != null) {
            exchange.getMessage().setHeader(RedisDelayConstants.GROUP, group);
        }
        producers.get(queue).process(exchange, doneSync -> inFlight.end(exchange.getException()));
    }

    /** Waits until everything that was sent is stored. */
    public void awaitStored() throws Exception {
        inFlight.awaitAll();
    }

    @Override
    public void close() {
        context.stop();
    }
}
