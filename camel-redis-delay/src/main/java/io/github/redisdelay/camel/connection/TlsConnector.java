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
 * Connects by TLS, and gives up where the server speaks none. Redisson by itself waits five times for 10 s for an answer that
 * never comes. Only where it takes long is the server asked in plain text, because one that speaks TLS logs that as an error.
 *
 * @param unsuspicious how long connecting may take before the server is asked
 * @param patience how long the server may say nothing then
 */
public record TlsConnector(Duration unsuspicious, Duration patience) {

    /** 10 s in all. */
    static final TlsConnector DEFAULT = new TlsConnector(Duration.ofSeconds(2), Duration.ofSeconds(8));

    private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);

    /** What asks the user. */
    public static final String QUESTION =
            "does the server speak TLS at this port? For a connection without TLS write redis:// instead of rediss://";

    /**
     * @param connect connects, and blocks until it has
     * @param drop is given what has connected when nobody waited for it any more
     * @param executor has a thread for that
     * @throws IllegalStateException if the server seems to speak no TLS
     * @throws RuntimeException what {@code connect} has thrown
     */
    public <T> T connect(URI address, Supplier<T> connect, Consumer<T> drop, Executor executor) throws InterruptedException {
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

    /** What shows that no TLS is spoken there; or null. */
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
            String problem =
                    "no TLS handshake within " + Durations.text(unsuspicious.plus(patience)) + ": " + QUESTION;
            return listens ? problem : null;
        } catch (IOException e) {
            return null; // Redisson says why it cannot connect
        }
    }
}
