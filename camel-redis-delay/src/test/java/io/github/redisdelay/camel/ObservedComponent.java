// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.delivery.DeliveriesOfExchange;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.spi.annotations.Component;

/** For tests outside of this package: the component, with somebody between its endpoints and their queues. */
@Component("redis-delay")
public final class ObservedComponent extends RedisDelayComponent {

    private final UnaryOperator<DelayQueue> observer;

    /** The queues behind the observed ones: an import goes into these alone. Guards itself. */
    private final Map<DelayQueue, DelayQueue> queues = Collections.synchronizedMap(new IdentityHashMap<>());

    /** @param observer puts something in the place of a queue that does all that the queue does */
    public ObservedComponent(UnaryOperator<DelayQueue> observer) {
        this.observer = observer;
    }

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        RedisDelayEndpoint plain = (RedisDelayEndpoint) super.createEndpoint(uri, remaining, parameters);
        RedisDelayEndpoint endpoint = new RedisDelayEndpoint(uri, this, remaining, plain.getConfiguration()) {
            @Override
            DelayQueue queue(Reference<OpenClient> client) {
                DelayQueue whole = super.queue(client);
                DelayQueue observed = observer.apply(whole);
                queues.put(observed, whole);
                return observed;
            }
        };
        endpoint.setOwnOptions(parameters);
        return endpoint;
    }

    @Override
    ImportModule.Site importSite(Meters.MeteredQueue queue, String routeId, long maximumQueueLength) {
        DelayQueue whole = queues.getOrDefault(queue.queue(), queue.queue());
        return super.importSite(
                new Meters.MeteredQueue(queue.keyPrefix(), queue.place(), whole, queue.client()),
                routeId,
                maximumQueueLength);
    }

    /** The deliveries that an exchange holds: one, or those of a batch. */
    public static List<Delivery> deliveries(Exchange exchange) {
        List<Delivery> all = new ArrayList<>();
        DeliveriesOfExchange held = exchange.getProperty(DeliveriesOfExchange.PROPERTY, DeliveriesOfExchange.class);
        while (held != null) {
            all.add(held.latest().delivery());
            held = held.earlier();
        }
        return all;
    }
}
