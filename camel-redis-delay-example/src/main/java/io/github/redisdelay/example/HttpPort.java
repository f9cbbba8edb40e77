// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Looks whether a port is free, before anything is started: Camel's own error comes late and says less. */
final class HttpPort {

    private HttpPort() {}

    /**
     * @param variable the environment variable that names it
     * @param other another port to propose
     * @throws ExampleException if another program has the port
     */
    static void check(String variable, int port, int other) {
        try {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        } catch (IOException e) {
            throw new ExampleException(
                    "Port " + port + " is taken by another program. Choose another: " + variable + "="
                            + (port == other ? other + 1 : other),
                    e);
        }
    }
}
