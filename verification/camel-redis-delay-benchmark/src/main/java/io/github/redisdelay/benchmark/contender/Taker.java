// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import java.util.Arrays;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** One thread that takes from the destination of an {@code RDelayedQueue}. */
final class Taker extends Thread implements Contender.Consumption {

    /** Wakes a consumer that is to stop. */
    private static final byte[] LAST = {0};

    private final RBlockingQueue<byte[]> destination;
    private final RedissonClient look;
    private final Work work;
    private volatile boolean stopped;
    private volatile Throwable failure;

    /** The work on a message. */
    @FunctionalInterface
    interface Work {
        void on(byte[] body) throws Exception;
    }

    private Taker(RBlockingQueue<byte[]> destination, RedissonClient look, Work work) {
        super("taker");
        setDaemon(true);
        this.destination = destination;
        this.look = look;
        this.work = work;
    }

    /** @param look for what is no part of what is measured */
    static Taker start(RBlockingQueue<byte[]> destination, RedissonClient look, Work work) {
        Taker taker = new Taker(destination, look, work);
        taker.start();
        return taker;
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                byte[] body = destination.take();
                if (!Arrays.equals(body, LAST)) {
                    work.on(body);
                }
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** Without a timeout or an interrupt, by which it would lose a message that was on its way. */
    @Override
    public void close() throws Exception {
        stopped = true;
        RQueue<byte[]> same = look.getQueue(destination.getName(), ByteArrayCodec.INSTANCE);
        same.offer(LAST);
        join();
        same.remove(LAST);
        if (failure != null) {
            throw new IllegalStateException("The consumer of RDelayedQueue failed", failure);
        }
    }
}
