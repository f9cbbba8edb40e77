// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.queue.ClientOptions;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.IdempotentRepository;
import org.redisson.api.RedissonClient;

/** The class that a Java block of a page is compiled into: its routes or its calls, with everything that the page's readers have at hand. */
public abstract class PageCode extends RouteBuilder {

    public ConsumerTemplate consumerTemplate;
    public ProducerTemplate producer;
    public RedissonClient redisson;
    public ClientOptions options;
    public RedisDelayComponent component;
    public IdempotentRepository myIdempotentRepository;

    /** Stands for a class of the reader's. */
    public record Invoice(String number) {}

    @Override
    public void configure() throws Exception {}

    /** Code that is not a route. */
    public void call() throws Exception {}
}
