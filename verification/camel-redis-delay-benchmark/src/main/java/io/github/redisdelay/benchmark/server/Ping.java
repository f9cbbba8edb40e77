// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.server;

import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures round trips to Redis: {@code PING} on a plain connection. Used by one thread. */
public final class Ping implements AutoCloseable {

    private final Histogram micros = new Histogram(3);
    private final RedisSocket socket;

    private Ping(RedisSocket socket) {
        this.socket = socket;
    }

    /** Connects to {@code redis://host:port}. */
    public static Ping open(String address) throws IOException {
        return new Ping(RedisSocket.open(address));
    }

    /** Measures one. */
    public void once() throws IOException {
        long begin = System.nanoTime();
        String answer = socket.call("PING");
        long took = System.nanoTime() - begin;
        if (!"+PONG".equals(answer)) {
            throw new IOException("PING: " + answer);
        }
        micros.recordValue(Math.max(1, TimeUnit.NANOSECONDS.toMicros(took)));
    }

    /** The median of those so far, in milliseconds. */
    public double medianMillis() {
        return micros.getValueAtPercentile(50) / 1e3;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
