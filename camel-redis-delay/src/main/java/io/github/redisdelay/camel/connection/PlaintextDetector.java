// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.github.redisdelay.camel.option.Durations;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A connection attempt by TLS that detects a server which speaks plain text, and gives up. Redisson by itself waits five times 10 s for an
 * answer that never comes. The server is asked in plain text only if connecting takes long, because a server with TLS
 * logs that as an error.
 *
 * @param unsuspicious the time that connecting may take before the server is asked
 * @param patience the time that the server may take for its answer
 */
public record PlaintextDetector(Duration unsuspicious, Duration patience) {

    /** 10 s in all. */
    static final PlaintextDetector DEFAULT = new PlaintextDetector(Duration.ofSeconds(2), Duration.ofSeconds(8));

    private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);

    /** The question to the user. */
    public static final String QUESTION =
            "does the server speak TLS at this port? For a connection without TLS write redis:// instead of rediss://";

    /**
     * @param connect connects; may block
     * @param drop closes a connection for which nobody waits any more
     * @param executor runs {@code connect}
     * @throws IllegalStateException if the server seems to speak no TLS
     * @throws RuntimeException as {@code connect}
     */
    public <T> T connect(URI address, Supplier<T> connect, Consumer<T> drop, Executor executor)
            throws InterruptedException {
        CompletableFuture<T> connected = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                T made = connect.get();
                if (!connected.complete(made)) {
                    drop.accept(made);
                }
            } catch (Throwable e) {
                connected.completeExceptionally(e);
            }
        });
        try {
            try {
                return connected.get(unsuspicious.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                String problem = problem(address);
                if (problem != null) {
                    connected.completeExceptionally(new IllegalStateException(problem));
                }
                return connected.get();
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            connected.cancel(false);
            throw e;
        }
    }

    /** The sign that the server speaks no TLS; null if there is none. */
    private String problem(URI address) {
        int millis = (int) patience.toMillis();
        boolean listens = false;
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address.getHost(), address.getPort()), millis);
            listens = true;
            socket.setSoTimeout(millis);
            socket.getOutputStream().write(PING);
            int answer = socket.getInputStream().read();
            return answer == '+' || answer == '-' ? "the server answers in plain text: " + QUESTION : null;
        } catch (SocketTimeoutException e) {
            String problem = "no TLS handshake within " + Durations.text(unsuspicious.plus(patience)) + ": " + QUESTION;
            return listens ? problem : null;
        } catch (IOException e) {
            return null; // Redisson says why it cannot connect
        }
    }
}
