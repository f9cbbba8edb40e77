// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A connection to beanstalkd, in <a href="https://github.com/beanstalkd/beanstalkd/blob/v1.12/doc/protocol.txt">its
 * protocol</a>. Commands go together with the next {@link #flush}; answers come in their order. One thread at a time.
 */
final class BeanstalkdConnection implements AutoCloseable {

    private static final int BUFFER = 1 << 16;
    private static final int TIMEOUT_MILLIS = 60_000;
    private static final byte[] LINE_END = {'\r', '\n'};

    private final Socket socket;
    private final InputStream input;
    private final OutputStream output;

    BeanstalkdConnection(String host, int port) throws IOException {
        socket = new Socket(host, port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        input = new BufferedInputStream(socket.getInputStream(), BUFFER);
        output = new BufferedOutputStream(socket.getOutputStream(), BUFFER);
    }

    void send(String command) throws IOException {
        output.write(command.getBytes(StandardCharsets.US_ASCII));
        output.write(LINE_END);
    }

    void send(String command, byte[] body) throws IOException {
        send(command + " " + body.length);
        output.write(body);
        output.write(LINE_END);
    }

    void flush() throws IOException {
        output.flush();
    }

    /** The next line, which must begin with one of these words. */
    String answer(String... words) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = read(); c != '\r'; c = read()) {
            line.append((char) c);
        }
        read();
        for (String word : words) {
            if (line.indexOf(word) == 0) {
                return line.toString();
            }
        }
        throw new IOException("beanstalkd answered " + line);
    }

    /** The bytes that follow an answer that ends with its length. */
    byte[] body(String answer) throws IOException {
        int bytes = Integer.parseInt(answer.substring(answer.lastIndexOf(' ') + 1));
        byte[] body = input.readNBytes(bytes);
        read();
        read();
        return body;
    }

    private int read() throws IOException {
        int c = input.read();
        if (c < 0) {
            throw new EOFException("beanstalkd has closed the connection");
        }
        return c;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
