// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import java.util.Optional;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * The states of all orders. It stands for the database of a real shop, and is a map in Redis here: the component and
 * the application share one client. Each change is one command of Redis, so any number of threads and JVMs may call it.
 */
@Component
public class OrderBook {

    private final RMap<String, String> states;

    OrderBook(RedissonClient redisson, @Value("${camel.component.redis-delay.key-prefix}") String keyPrefix) {
        states = redisson.getMap(keyPrefix + ":order-states", StringCodec.INSTANCE);
    }

    public Optional<OrderState> state(String id) {
        return Optional.ofNullable(states.get(id)).map(OrderState::valueOf);
    }

    public long openOrders() {
        return states.readAllValues().stream()
                .filter(OrderState.OPEN.name()::equals)
                .count();
    }

    /** Writes a new order down, unless it is there. */
    public void open(String id) {
        states.putIfAbsent(id, OrderState.OPEN.name());
    }

    /**
     * Gives an order its final state, unless it has one. It may be missing: its message can be faster than
     * {@link #open}.
     *
     * @return the state that it has now
     */
    public OrderState settle(String id, OrderState state) {
        String before = states.putIfAbsent(id, state.name());
        if (before == null || states.replace(id, OrderState.OPEN.name(), state.name())) {
            return state;
        }
        return OrderState.valueOf(states.get(id));
    }
}
