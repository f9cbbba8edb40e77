// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for the servers of this JVM. A server that is stopped keeps its port, and clients go on trying it: so a port is given
 * once, and each JVM has ports of its own. Otherwise those clients could meet another test's server, and take its messages.
 *
 * <p>The ports lie below those that the system hands out to clients. On a port of that range, a client that connects again and
 * again to a stopped server on the same machine can meet itself and then keep the server from starting.
 */
final class ServerPorts {

    private static final int FIRST = 20_000;
    private static final int END = 30_000;
    /** The ports of a JVM; the first one is not given, but held until the JVM ends. */
    private static final int BLOCK = 200;

    /** Guarded by the class; null before the first port. */
    private static ServerSocket held;
    /** Guarded by the class. */
    private static int given;

    private ServerPorts() {}

    /**
     * A free port from 20000 to 29999. After 199 ports they come again.
     *
     * @throws IllegalStateException if there is none
     */
    static synchronized int next() {
        if (held == null) {
            held = hold();
        }
        for (int i = 1; i < BLOCK; i++) {
            int port = held.getLocalPort() + 1 + given++ % (BLOCK - 1);
            try (ServerSocket socket = listen(port)) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // In use: the next one.
            }
        }
        throw noneFree();
    }

    private static ServerSocket hold() {
        int blocks = (END - FIRST) / BLOCK;
        int first = ThreadLocalRandom.current().nextInt(blocks);
        for (int i = 0; i < blocks; i++) {
            try {
                return listen(FIRST + (first + i) % blocks * BLOCK);
            } catch (IOException e) {
                // Another JVM has it: the next one.
            }
        }
        throw noneFree();
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }

    private static IllegalStateException noneFree() {
        return new IllegalStateException("No free port found from " + FIRST + " to " + (END - 1));
    }
}
