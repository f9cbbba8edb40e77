// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.queue.DueTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.api.RedissonClient;

/**
 * Several waiting callers of a bare client: a script of {@link BareScripts}, what they ask for put together into one
 * call at a time. Through Camel, each caller sends an exchange to a route, whose processor waits. All else is as the
 * floor does it.
 */
final class BareClientContender implements Contender {

    private final String subject;
    private final FloorContender floor;
    /** Null without Camel. */
    private final CamelContext context;

    private final ProducerTemplate template;
    private final Endpoint route;

    /** Guarded by this. */
    private final List<Caller> waiting = new ArrayList<>();
    /** Guarded by this. */
    private boolean underWay;

    /** A request, and the answer that its caller waits for. */
    private record Caller(Message message, CompletableFuture<Void> answered) {}

    BareClientContender(String subject, RedissonClient redisson, String name, BareScripts scripts, boolean throughCamel)
            throws Exception {
        this.subject = subject;
        floor = new FloorContender(redisson, name, scripts);
        context = throughCamel ? new DefaultCamelContext() : null;
        if (!throughCamel) {
            template = null;
            route = null;
            return;
        }
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:schedule")
                        .process(exchange -> add(exchange.getMessage().getBody(Message.class))
                                .get());
            }
        });
        context.start();
        template = context.createProducerTemplate();
        route = context.getEndpoint("direct:schedule");
    }

    @Override
    public String subject() {
        return subject;
    }

    @Override
    public void schedule(Message message) throws Exception {
        if (context == null) {
            add(message).get();
        } else {
            template.sendBody(route, message);
        }
    }

    private CompletableFuture<Void> add(Message message) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        synchronized (this) {
            waiting.add(new Caller(message, answered));
        }
        send();
        return answered;
    }

    /** Sends all that wait, if no call is under way. */
    private void send() {
        List<Caller> call;
        synchronized (this) {
            if (underWay || waiting.isEmpty()) {
                return;
            }
            underWay = true;
            call = List.copyOf(waiting);
            waiting.clear();
        }
        floor.sendAfterTheLast(call.stream().map(Caller::message).toList()).whenComplete((reply, error) -> {
            for (Caller each : call) {
                if (error == null) {
                    each.answered.complete(null);
                } else {
                    each.answered.completeExceptionally(error);
                }
            }
            synchronized (this) {
                underWay = false;
            }
            send();
        });
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        floor.scheduleBatch(bodies, due);
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        floor.scheduleAll(source);
    }

    @Override
    public Consumption consume(Arrivals arrivals) throws Exception {
        return floor.consume(arrivals);
    }

    @Override
    public long remaining() {
        return floor.remaining();
    }

    @Override
    public void close() {
        if (context != null) {
            context.stop();
        }
    }
}
