// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.DelayQueue;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.AsyncProducer;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.api.RedissonClient;

/** A route for each kind of request, and one whose processor throws an exception now and then. */
public final class CamelRequests implements Requests {

    private final String name;
    private final DelayQueue look;
    private final CamelContext context = new DefaultCamelContext();
    private final ProducerTemplate template;
    private final Map<Kind, Endpoint> waiting = new EnumMap<>(Kind.class);
    private final Map<Kind, AsyncProducer> asynchronous = new EnumMap<>(Kind.class);

    /** @param look the same queue, for questions that are no part of what is measured */
    public CamelRequests(RedissonClient redisson, String name, DelayQueue look) throws Exception {
        this.name = name;
        this.look = look;
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redisson);
        context.addComponent("redis-delay", component);
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                for (Kind kind : Kind.values()) {
                    from("direct:" + kind).to(uri(kind));
                    from("direct:async-" + kind).to(uri(kind) + "&synchronous=false");
                }
            }
        });
        context.getShutdownStrategy().setTimeout(10);
        context.start();
        template = context.createProducerTemplate();
        for (Kind kind : Kind.values()) {
            waiting.put(kind, context.getEndpoint("direct:" + kind));
            asynchronous.put(kind, context.getEndpoint("direct:async-" + kind).createAsyncProducer());
            asynchronous.get(kind).start();
        }
    }

    private String uri(Kind kind) {
        String options =
                switch (kind) {
                    case SCHEDULE -> "delay=" + FAR;
                    case SCHEDULE_DUE -> "delay=0";
                    case CANCEL -> "operation=cancel";
                    case RESCHEDULE -> "operation=reschedule&delay=0";
                    case GET -> "operation=get";
                };
        return "redis-delay:" + name + "?" + options;
    }

    private static Object body(Kind kind, int number) {
        return kind == Kind.SCHEDULE || kind == Kind.SCHEDULE_DUE
                ? Message.of(number, kind.due()).body()
                : null;
    }

    @Override
    public void call(Kind kind, int number) {
        template.sendBodyAndHeader(
                waiting.get(kind), body(kind, number), RedisDelayConstants.SCHEDULE_ID, Requests.id(number));
    }

    @Override
    public CompletableFuture<?> send(Kind kind, int number) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        Exchange exchange = asynchronous.get(kind).getEndpoint().createExchange();
        exchange.getMessage().setBody(body(kind, number));
        exchange.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, Requests.id(number));
        asynchronous.get(kind).process(exchange, doneSync -> {
            if (exchange.getException() == null) {
                answer.complete(null);
            } else {
                answer.completeExceptionally(exchange.getException());
            }
        });
        return answer;
    }

    @Override
    public Consumption consume(Duration redeliveryDelay, Deliveries deliveries) throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                // Otherwise Camel logs each failure, with its stack trace.
                errorHandler(noErrorHandler());
                from("redis-delay:" + name + "?" + CamelContender.CONSUMER + "&redeliveryDelay=" + redeliveryDelay)
                        .routeId("consumer")
                        .process(exchange -> {
                            if (deliveries.fails(exchange.getMessage().getBody(byte[].class))) {
                                throw new IllegalStateException("the card was refused");
                            }
                        });
            }
        });
        return () -> context.getRouteController().stopRoute("consumer");
    }

    @Override
    public boolean holds(long delayed) {
        return Requests.holds(look, delayed);
    }

    @Override
    public void close() {
        context.stop();
    }
}
