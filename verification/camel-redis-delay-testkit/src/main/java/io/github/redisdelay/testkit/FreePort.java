// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for servers that cannot be told to choose one themselves. */
public final class FreePort {

    private FreePort() {}

    /** Below those of Redis servers, and of those that the system hands out to clients, which may come in between. */
    public static int find() {
        for (int i = 0; i < 100; i++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 20_000);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // In use: the next one.
            }
        }
        throw new IllegalStateException("no free port found between 10000 and 20000");
    }
}
