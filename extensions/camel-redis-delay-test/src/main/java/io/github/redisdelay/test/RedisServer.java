// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A real Redis server for tests, never a mock and never a reason to skip a test. Which one, system properties say:
 *
 * <ol>
 *   <li>{@code -Dredis.address=redis://host:port}: that server, which the tests neither start nor stop;
 *   <li>{@code -Dredis.image=redis:8}: a container of that image of Redis or Valkey. Needs
 *       {@code org.testcontainers:testcontainers} on the class path, and Docker or another engine that it finds;
 *   <li>{@code -Dredis.server=/usr/bin/redis-server}: that binary of Redis or Valkey, started as a process of its own;
 *   <li>otherwise the binary of Redis 7.0.15 inside {@code embedded-redis}, for Linux and macOS. Needs nothing;
 *   <li>where that has no binary for the operating system, as for Windows: a container of {@value #DEFAULT_IMAGE}.
 * </ol>
 *
 * <p>The first is for the {@linkplain #shared() shared server} only. A server of a test's own ({@link #dedicated}) is
 * always one that is started. A server is started on a free port from 20000 to 31999 of the local host and ends with
 * the JVM at the latest. By default one of a test's own writes nothing to disk. The shared one has its append-only file
 * on, never synced, in a folder that is deleted with it: the component warns of a Redis without that file.
 */
public abstract class RedisServer implements AutoCloseable {

    static final String ADDRESS_PROPERTY = "redis.address";
    static final String IMAGE_PROPERTY = "redis.image";
    static final String BINARY_PROPERTY = "redis.server";
    static final String DEFAULT_IMAGE = "valkey/valkey:8";

    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

    RedisServer() {}

    /**
     * The server that all tests of this JVM share: started at the first call, stopped when the JVM ends. A server that
     * is named by its address gets 20 s to answer.
     *
     * @throws RuntimeException if there is none; its message says what is missing. Later calls fail at once with the
     *     same
     */
    public static RedisServer shared() {
        return Shared.get();
    }

    /**
     * A started server of the caller's own, to be stopped, restarted or configured; the caller closes it.
     *
     * @param configLines lines of a {@code redis.conf}, such as {@code requirepass secret} or {@code appendonly yes}.
     *     By default nothing is written to disk
     * @throws RuntimeException if it does not answer within 20 s; the message says why, with the server's log if it has
     *     one
     */
    public static RedisServer dedicated(String... configLines) {
        return started(startable(property(IMAGE_PROPERTY), List.of(configLines)));
    }

    /**
     * The same, but always a container. Needs {@code org.testcontainers:testcontainers} on the class path, and Docker
     * or another engine that it finds.
     *
     * @param image of Redis or Valkey, such as {@code redis:8}
     * @throws IllegalStateException if there is no engine
     * @throws RuntimeException if it does not answer within 20 s; the message says why, with the server's log if it has
     *     one
     */
    public static RedisServer container(String image, String... configLines) {
        return started(startable(image, List.of(configLines)));
    }

    /**
     * The same, but always a process of the binary inside {@code embedded-redis}, or the one of {@code -Dredis.server}:
     * for servers that have to reach one another at their own ports, as those of a cluster or watched by Sentinel do.
     *
     * @throws IllegalStateException if there is no binary for this operating system
     * @throws RuntimeException if it does not answer within 20 s; the message says why, with the server's log
     */
    public static RedisServer embedded(String... configLines) {
        return embedded(List.of(configLines));
    }

    /**
     * The same, but always a process of this program.
     *
     * @param binary a redis-server or valkey-server, or a script that executes one with its arguments
     * @throws IllegalStateException if it cannot be executed
     * @throws RuntimeException if it does not answer within 20 s; the message says why, with the server's log
     */
    public static RedisServer process(Path binary, String... configLines) {
        return started(new EmbeddedRedisServer(binary.toFile(), "", List.of(configLines)));
    }

    /**
     * The same binary as a Sentinel.
     *
     * @param configLines lines of a {@code sentinel.conf}, such as {@code sentinel monitor mymaster 127.0.0.1 6379 2}
     * @throws RuntimeException as {@link #embedded}
     */
    public static RedisServer sentinel(String... configLines) {
        return embedded(List.of(configLines), "--sentinel");
    }

    private static RedisServer embedded(List<String> configLines, String... arguments) {
        if (!EmbeddedRedisServer.isAvailable()) {
            throw new IllegalStateException("embedded-redis has no binary for " + System.getProperty("os.name") + " on "
                    + System.getProperty("os.arch") + ": these servers can be started on Linux and macOS");
        }
        return started(new EmbeddedRedisServer(configLines, arguments));
    }

    private static RedisServer started(RedisServer server) {
        try {
            server.start();
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    /** @param image null for the embedded binary where there is one */
    static RedisServer startable(String image, List<String> configLines) {
        if (image == null && EmbeddedRedisServer.isAvailable()) {
            return new EmbeddedRedisServer(configLines);
        }
        try {
            // Loads Testcontainers, which most users of the embedded binary do not have.
            return new ContainerRedisServer(image == null ? DEFAULT_IMAGE : image, configLines);
        } catch (NoClassDefFoundError e) {
            throw noContainer(
                    "Testcontainers is not on the class path",
                    "add org.testcontainers:testcontainers with scope test (a container engine has to run)",
                    e);
        }
    }

    /**
     * There is no container where one is needed.
     *
     * @param missing what there is not, a clause
     * @param remedy what gives one, an imperative
     */
    static IllegalStateException noContainer(String missing, String remedy, Throwable cause) {
        String why = EmbeddedRedisServer.isAvailable()
                ? "-D" + IMAGE_PROPERTY + " is set"
                : "embedded-redis has no binary for " + System.getProperty("os.name") + " on "
                        + System.getProperty("os.arch") + " (it has none for Windows)";
        return new IllegalStateException(
                "No Redis for the tests: " + why + ", and " + missing + ". Name a running server with -D"
                        + ADDRESS_PROPERTY + "=redis://host:port, or " + remedy,
                cause);
    }

    /** {@code redis://host:port}. */
    public String address() {
        return "redis://" + host() + ":" + port();
    }

    /** The host's name or IP address. */
    public abstract String host();

    /** The port; a server that is stopped and started keeps it. */
    public abstract int port();

    /**
     * Starts a stopped server on the port that it had before. It may take as long as it likes to load what it has on
     * disk.
     *
     * @throws RuntimeException if it is running already, does not answer within 20 s, or is the one of
     *     {@code -Dredis.address}
     */
    public abstract void start();

    /**
     * Stops the server in an orderly way; what it had written to disk is there again after {@link #start()}.
     *
     * @throws IllegalStateException if it is the one of {@code -Dredis.address}
     */
    public abstract void stop();

    /**
     * Ends the server as a crash does ({@code kill -9}); {@link #start()} starts it again.
     *
     * @throws IllegalStateException if it is the one of {@code -Dredis.address}
     */
    public abstract void kill();

    /** Stops the server and removes its files; does nothing to the one of {@code -Dredis.address}. */
    @Override
    public abstract void close();

    /** Returns when the server answers; a server that asks for a password has answered. */
    final void awaitAnswer(BooleanSupplier running) throws IOException {
        long begin = System.nanoTime();
        while (running.getAsBoolean()) {
            String answer = answer();
            if (answer.startsWith("+PONG") || answer.startsWith("-NOAUTH")) {
                break;
            }
            if (answer.startsWith("-LOADING")) {
                begin = System.nanoTime(); // it has begun, and takes as long as it has data
            }
            if (System.nanoTime() - begin > START_TIMEOUT.toNanos()) {
                throw new IOException(
                        "No answer from Redis at " + address() + " within " + START_TIMEOUT.toSeconds() + " s");
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted while Redis at " + address() + " was starting");
            }
            LockSupport.parkNanos(POLL_INTERVAL.toNanos());
        }
        // Also if something answered: that would be another server on its port.
        if (!running.getAsBoolean()) {
            throw new IOException("Redis at " + address() + " ended as soon as it was started");
        }
    }

    /** The server's answer to a PING; empty if there is none. */
    private String answer() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port()), 1000);
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            String reply = reader.readLine();
            return reply == null ? "" : reply;
        } catch (IOException e) {
            return "";
        }
    }

    static String property(String name) {
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
                RedisServer started = dedicated("appendonly yes", "appendfsync no");
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
