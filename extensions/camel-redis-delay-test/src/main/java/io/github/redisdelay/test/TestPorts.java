// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers of tests. A server that is stopped keeps its port, and clients go on trying it: so a port is given
 * once, and each JVM has ports of its own. Otherwise those clients could meet another test's server, and take its
 * messages.
 *
 * <p>The ports lie below those that the system hands out to clients. On a port of that range, a client that connects
 * again and again to a stopped server on the same machine can meet itself and then keep the server from starting.
 */
public final class TestPorts {

    private static final int FIRST = 20_000;
    private static final int END = 32_000;
    /** The ports of a JVM; the first one is not given, but held until the JVM ends. */
    private static final int BLOCK = 500;

    /** Guarded by the class; null before the first port. */
    private static ServerSocket held;
    /** Guarded by the class. Begins anywhere, as JVMs in containers may share the ports of one host and not see it. */
    private static int given = ThreadLocalRandom.current().nextInt(BLOCK);

    private TestPorts() {}

    /**
     * A free port of the local host from 20000 to 31999. After 499 ports they come again.
     *
     * @throws IllegalStateException if none of this JVM's ports is free, or if 24 other JVMs have all ports
     */
    public static synchronized int next() {
        if (held == null) {
            held = hold();
        }
        int first = held.getLocalPort() + 1;
        IOException last = null;
        for (int i = 1; i < BLOCK; i++) {
            try (ServerSocket socket = listen(first + given++ % (BLOCK - 1))) {
                return socket.getLocalPort();
            } catch (IOException e) {
                last = e; // in use: the next one
            }
        }
        throw new IllegalStateException("None of the ports " + first + " to " + (first + BLOCK - 2) + " is free", last);
    }

    private static ServerSocket hold() {
        int blocks = (END - FIRST) / BLOCK;
        int first = ThreadLocalRandom.current().nextInt(blocks);
        IOException last = null;
        for (int i = 0; i < blocks; i++) {
            try {
                return listen(FIRST + (first + i) % blocks * BLOCK);
            } catch (IOException e) {
                last = e; // another JVM has it: the next one
            }
        }
        throw new IllegalStateException(
                "Other JVMs hold all ports from " + FIRST + " to " + (END - 1) + ", each " + BLOCK + " of them", last);
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }
}
