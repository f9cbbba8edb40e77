// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** One plain connection to Redis, where a client library would repeat, reconnect or hide too much. */
final class RedisSocket implements AutoCloseable {

    private final Socket socket;
    private final BufferedReader answers;

    private RedisSocket(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(10_000);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    }

    /** Connects to {@code redis://host:port}. */
    static RedisSocket open(String address) throws IOException {
        URI uri = URI.create(address);
        return new RedisSocket(new Socket(uri.getHost(), uri.getPort()));
    }

    /** For how long to wait for an answer; 10 s by default. */
    void timeout(Duration timeout) throws IOException {
        socket.setSoTimeout((int) timeout.toMillis());
    }

    /**
     * Sends a command and reads the first line of the answer.
     *
     * @param command words with a space between them; null to send nothing
     * @return null if the connection was closed
     */
    String call(String command) throws IOException {
        if (command != null) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        }
        return answers.readLine();
    }

    /** Reads on, without a look at it. */
    void skip(int lines) throws IOException {
        for (int i = 0; i < lines; i++) {
            answers.readLine();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
