// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** {@code RDelayedQueue} of Redisson and its destination. It has bytes: nothing is measured of how objects are written. */
@SuppressWarnings("deprecation") // it is what many use nevertheless
abstract class RDelayed {

    final RedissonClient look;
    final RBlockingQueue<byte[]> destination;
    final RDelayedQueue<byte[]> queue;

    /** @param look for questions that are no part of what is measured; waits longer for the answer */
    RDelayed(RedissonClient redisson, String name, RedissonClient look) {
        this.look = look;
        destination = redisson.getBlockingQueue(name, ByteArrayCodec.INSTANCE);
        queue = redisson.getDelayedQueue(destination);
    }

    public final void close() {
        queue.destroy();
    }
}
