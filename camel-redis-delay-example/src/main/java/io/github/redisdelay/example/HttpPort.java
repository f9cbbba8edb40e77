// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Looks whether a port is free, before anything is started: Camel's own error comes late and says less. */
final class HttpPort {

    private HttpPort() {}

    /** @throws ExampleException if another program has the port */
    static void check(int port) {
        try {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        } catch (IOException e) {
            throw new ExampleException(
                    "Port " + port + " is taken by another program. Choose another: " + ExampleSettings.HTTP_PORT + "="
                            + (port == 8081 ? 8082 : 8081),
                    e);
        }
    }
}
