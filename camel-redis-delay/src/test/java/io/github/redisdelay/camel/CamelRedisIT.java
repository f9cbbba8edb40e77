// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A Camel context on a real Redis, with a client beside it to look at what is stored. */
public abstract class CamelRedisIT {

    @RegisterExtension
    protected static RedisExtension redis = new RedisExtension();

    protected DefaultCamelContext context;
    protected ProducerTemplate template;
    /** A queue that no other test uses. */
    protected String queue;
    /** The URI of that queue. */
    protected String uri;
    /** Not Camel's: tells what is stored. */
    protected DelayQueueClient outside;

    @BeforeEach
    protected final void openContext() {
        queue = redis.uniqueQueue();
        uri = "redis-delay:" + queue;
        outside = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        context = ownContext();
        context.getRegistry().bind("redisson", redis.client());
        template = context.createProducerTemplate();
    }

    /** Without JMX, which costs a third of a short test. */
    public static DefaultCamelContext newContext() {
        DefaultCamelContext made = newContextWithJmx();
        made.disableJMX();
        return made;
    }

    protected static DefaultCamelContext newContextWithJmx() {
        DefaultCamelContext made = new DefaultCamelContext();
        made.getShutdownStrategy().setTimeout(10);
        return made;
    }

    /** The test's own context. A class that looks at JMX takes one that has it. */
    protected DefaultCamelContext ownContext() {
        return newContext();
    }

    @AfterEach
    protected final void closeContext() throws Exception {
        context.close();
        outside.close();
    }

    /** Adds routes and starts the context if it is not started. */
    protected void start(RouteBuilder routes) throws Exception {
        context.addRoutes(routes);
        context.start();
    }

    /** Routes the test's queue to a processor. */
    protected RouteBuilder consume(String options, org.apache.camel.Processor processor) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + options).routeId("consumer").process(processor);
            }
        };
    }

    /** Sends to an endpoint and returns the exchange, failed or not. */
    protected Exchange send(String to, Object body, Map<String, Object> headers) {
        assertThat(context.isStarted()).as("the context is started").isTrue();
        return template.request(to, exchange -> {
            exchange.getMessage().setBody(body);
            exchange.getMessage().setHeaders(new java.util.HashMap<>(headers));
        });
    }

    protected DelayQueue stored() {
        return outside.queue(queue);
    }

    protected QueueStats stats() {
        return stored().admin().stats().join();
    }

    protected String failureOfDeadLetter() {
        return FailureRecords.ofDeadLetter(redis.client(), queue);
    }
}
