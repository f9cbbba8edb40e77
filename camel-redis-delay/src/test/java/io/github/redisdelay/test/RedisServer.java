// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A real Redis server for tests, never a mock and never a reason to skip a test.
 *
 * <ul>
 *   <li>{@code -Dredis.address=redis://host:port}: that server, which the tests neither start nor stop;
 *   <li>{@code -Dredis.image=redis:8}: a container of that image;
 *   <li>otherwise the binary inside {@code embedded-redis}, or a container of {@value #DEFAULT_IMAGE} where that has
 *       none for this operating system.
 * </ul>
 *
 * <p>A server of a test's own ({@link #dedicated}) is always an embedded one or a container.
 */
public abstract class RedisServer implements AutoCloseable {

    static final String ADDRESS_PROPERTY = "redis.address";
    static final String IMAGE_PROPERTY = "redis.image";
    static final String DEFAULT_IMAGE = "valkey/valkey:8";

    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

    /** The server that all tests of this JVM share: started at the first call, stopped when the JVM ends. */
    public static RedisServer shared() {
        return Shared.get();
    }

    /**
     * A started server of the caller's own, to be stopped, restarted or configured; the caller closes it.
     *
     * @param configLines lines of a {@code redis.conf}, such as {@code requirepass secret} or {@code appendonly yes}.
     *     By default nothing is written to disk.
     */
    public static RedisServer dedicated(String... configLines) {
        RedisServer server = startable(List.of(configLines));
        try {
            server.start();
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    private static RedisServer startable(List<String> configLines) {
        String image = property(IMAGE_PROPERTY);
        if (image == null && EmbeddedRedisServer.isAvailable()) {
            return new EmbeddedRedisServer(configLines);
        }
        return new ContainerRedisServer(image == null ? DEFAULT_IMAGE : image, configLines);
    }

    /** {@code redis://host:port}. */
    public String address() {
        return "redis://" + host() + ":" + port();
    }

    public abstract String host();

    public abstract int port();

    /** Starts a stopped server on the port that it had before. */
    public abstract void start();

    /** Stops the server in an orderly way; what it had written to disk is there again after {@link #start()}. */
    public abstract void stop();

    /** Ends the server as a crash does ({@code kill -9}); {@link #start()} starts it again. */
    public abstract void kill();

    /** Stops the server and removes its files. */
    @Override
    public abstract void close();

    /** Returns when the server answers; a server that asks for a password has answered. */
    final void awaitAnswer(BooleanSupplier running) throws IOException {
        try {
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(10))
                    .atMost(START_TIMEOUT)
                    .until(() -> answers() || !running.getAsBoolean());
        } catch (ConditionTimeoutException e) {
            throw new IOException(
                    "No answer from Redis at " + address() + " within " + START_TIMEOUT.toSeconds() + " s", e);
        }
        if (!running.getAsBoolean()) {
            throw new IOException("Redis at " + address() + " ended as soon as it was started");
        }
    }

    private boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port()), 1000);
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            String reply = reader.readLine();
            return reply != null && (reply.startsWith("+PONG") || reply.startsWith("-NOAUTH"));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * A free port below those that the system hands out to clients. On a port of that range, a client that connects
     * again and again to a stopped server on the same machine can meet itself and then keep the server from starting.
     */
    static int freePort() {
        for (int i = 0; i < 100; i++) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // In use: the next one.
            }
        }
        throw new IllegalStateException("No free port found between 20000 and 32000");
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        return value == null || value.isBlank() ? null : value.trim();
    }

    private static final class Shared {

        private static RedisServer server;
        private static RuntimeException failure;

        /** Tried once: a server that could not be had fails every test at once, and with the same reason. */
        static synchronized RedisServer get() {
            if (failure != null) {
                throw new IllegalStateException(failure.getMessage(), failure);
            }
            if (server == null) {
                try {
                    server = create();
                } catch (RuntimeException e) {
                    failure = e;
                    throw e;
                }
            }
            return server;
        }

        private static RedisServer create() {
            String address = property(ADDRESS_PROPERTY);
            if (address == null) {
                RedisServer started = dedicated();
                Runtime.getRuntime().addShutdownHook(new Thread(started::close, "stop-shared-redis"));
                return started;
            }
            ExternalRedisServer external = new ExternalRedisServer(address);
            try {
                external.awaitAnswer(() -> true);
            } catch (IOException e) {
                throw new UncheckedIOException("-D" + ADDRESS_PROPERTY + "=" + address + ": " + e.getMessage(), e);
            }
            return external;
        }
    }
}
