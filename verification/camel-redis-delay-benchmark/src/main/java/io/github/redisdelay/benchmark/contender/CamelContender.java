// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import java.util.List;
import org.apache.camel.AsyncProducer;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.api.RedissonClient;

/** Routes on both sides: {@code direct:} to {@code redis-delay:}, and {@code redis-delay:} to a counting processor. */
final class CamelContender implements Contender {

    /** The options of a user who wants throughput; all others have their defaults. */
    static final String CONSUMER = "concurrentConsumers=16&maxMessagesPerPoll=256";

    private static final String CONSUMER_ROUTE = "consumer";

    private final DelayQueue look;
    private final CamelContext context;
    private final Endpoint single;
    private final Endpoint batch;
    private final Endpoint async;
    private final AsyncProducer producer;
    private final ProducerTemplate template;
    // Set before the route that reads it is started.
    private volatile Arrivals arrivals;

    /** @param look the same queue, for questions that are no part of what is measured */
    CamelContender(RedissonClient redisson, String name, DelayQueue look) throws Exception {
        this.look = look;
        context = new DefaultCamelContext();
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redisson);
        context.addComponent("redis-delay", component);
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:schedule").to("redis-delay:" + name);
                from("direct:async").to("redis-delay:" + name + "?synchronous=false");
                from("direct:batch").to("redis-delay:" + name + "?batching=true");
                from("redis-delay:" + name + "?" + CONSUMER)
                        .routeId(CONSUMER_ROUTE)
                        .autoStartup(false)
                        .process(exchange ->
                                arrivals.arrived(exchange.getMessage().getBody(byte[].class)));
            }
        });
        context.getShutdownStrategy().setTimeout(10);
        context.start();
        single = context.getEndpoint("direct:schedule");
        batch = context.getEndpoint("direct:batch");
        async = context.getEndpoint("direct:async");
        producer = async.createAsyncProducer();
        producer.start();
        template = context.createProducerTemplate();
    }

    @Override
    public String subject() {
        return Subject.CAMEL;
    }

    @Override
    public void schedule(Message message) {
        template.sendBodyAndHeader(single, message.body(), header(message.due()), millis(message.due()));
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) {
        template.sendBodyAndHeader(batch, bodies, header(due), millis(due));
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        InFlight inFlight = new InFlight(UNDER_WAY);
        for (Message message = source.next(); message != null; message = source.next()) {
            inFlight.begin();
            Exchange exchange = async.createExchange();
            exchange.getMessage().setBody(message.body());
            exchange.getMessage().setHeader(header(message.due()), millis(message.due()));
            if (message.group() != null) {
                exchange.getMessage().setHeader(RedisDelayConstants.GROUP, message.group());
            }
            producer.process(exchange, doneSync -> inFlight.end(exchange.getException()));
        }
        inFlight.awaitAll();
    }

    private static String header(DueTime due) {
        return due.relative() ? RedisDelayConstants.DELAY : RedisDelayConstants.DELIVER_AT;
    }

    private static long millis(DueTime due) {
        return due.micros() / 1000;
    }

    @Override
    public Consumption consume(Arrivals counting) throws Exception {
        arrivals = counting;
        context.getRouteController().startRoute(CONSUMER_ROUTE);
        return () -> context.getRouteController().stopRoute(CONSUMER_ROUTE);
    }

    @Override
    public long remaining() {
        return QueueContender.remaining(look);
    }

    @Override
    public void close() {
        context.stop();
    }
}
