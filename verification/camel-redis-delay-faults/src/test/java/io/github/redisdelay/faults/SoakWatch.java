// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.history.History;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when the machine, this JVM or the server stands still for so long that leases may end, and writes it down as
 * a fault: on a busy machine that happens without anybody's help. Pings the server all the time, in a thread of its
 * own.
 */
final class SoakWatch implements AutoCloseable {

    /** The name of the fault. */
    static final String STANDSTILL = "something stood still";

    /** A lease is extended when a third of it is over. */
    private static final long LONG_NANOS = Experiment.LEASE.toNanos() / 3;

    private static final long INTERVAL_NANOS = Duration.ofMillis(100).toNanos();

    private final String address;
    private final History history;
    private final List<String> watched;
    private final Thread thread = new Thread(this::watch, "soak-watch");
    private volatile boolean closed;

    /**
     * Begins to watch.
     *
     * @param watched the clients of this JVM, where others would not stand still with them; else empty
     */
    SoakWatch(String address, History history, List<String> watched) {
        this.address = address;
        this.history = history;
        this.watched = watched;
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        long lastMicros = history.now();
        long lastNanos = System.nanoTime();
        RedisSocket socket = null;
        while (!closed) {
            LockSupport.parkNanos(INTERVAL_NANOS);
            try {
                if (socket == null) {
                    socket = RedisSocket.open(address);
                }
                if (socket.call("PING") == null) {
                    throw new IOException("closed");
                }
            } catch (IOException e) {
                close(socket); // it is down, or this connection was killed
                socket = null;
                continue;
            }
            if (System.nanoTime() - lastNanos > LONG_NANOS) {
                history.faultWas(STANDSTILL, watched, lastMicros, history.now());
            }
            lastMicros = history.now();
            lastNanos = System.nanoTime();
        }
        close(socket);
    }

    private static void close(RedisSocket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is closed already.
            }
        }
    }

    /** Watches no more. */
    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
