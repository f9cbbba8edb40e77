// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.benchmark.lateness.CamelReceiver;
import io.github.redisdelay.benchmark.lateness.LatenessRecorder;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RedissonClient;

/**
 * Some consumers of the same queues, each in a Camel context of its own with a component of its own, so that each has a
 * delay queue client, a timer and a channel of its own. They share one Redisson client: fifty of those would measure
 * Redisson.
 */
final class Fleet implements AutoCloseable {

    private final List<CamelReceiver> members = new ArrayList<>();
    private final CountingRedisson redisson;
    private final AtomicLong redelivered = new AtomicLong();

    private Fleet(RedissonClient redisson) {
        this.redisson = new CountingRedisson(redisson);
    }

    /**
     * Starts them.
     *
     * @param options of the consumers; empty for the defaults
     * @param recorder is told of each first delivery
     */
    static Fleet start(
            RedissonClient redisson, int consumers, List<String> queues, String options, LatenessRecorder recorder)
            throws Exception {
        Fleet fleet = new Fleet(redisson);
        for (int i = 0; i < consumers; i++) {
            fleet.members.add(CamelReceiver.start(fleet.redisson.client(), queues, options, exchange -> {
                if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                    recorder.arrived(exchange.getMessage().getBody(byte[].class));
                } else {
                    fleet.redelivered.incrementAndGet();
                }
            }));
        }
        return fleet;
    }

    /** The number of times that they have asked for messages. */
    long claims() {
        return redisson.scripts("claim");
    }

    /** The number of their own publications, which no message had caused. */
    long published() {
        return redisson.published();
    }

    /** The number of deliveries that were not the first of their message. */
    long redelivered() {
        return redelivered.get();
    }

    @Override
    public void close() {
        members.forEach(CamelReceiver::close);
    }
}
