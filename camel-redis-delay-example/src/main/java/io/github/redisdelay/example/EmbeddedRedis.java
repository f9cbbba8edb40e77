// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import redis.embedded.RedisExecProvider;

/**
 * A Redis server on the loopback address that keeps its data in a folder, from the binary inside
 * {@code embedded-redis}.
 *
 * <p>Its append-only file is on, so whatever it confirmed is there again after the next start. It survives a Ctrl-C
 * until it is closed, and never outlives the JVM; {@code redis-launcher.sh} says how.
 */
final class EmbeddedRedis implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    /**
     * If something still listens at the port this long after the start, and our server has not written its pid file,
     * the port is another one's.
     */
    private static final Duration PORT_TIMEOUT = Duration.ofSeconds(2);

    private static final int PORT_TRIES = 3;

    private final int port;
    private final Process launcher;

    private EmbeddedRedis(int port, Process launcher) {
        this.port = port;
        this.launcher = launcher;
    }

    /** @param folder made where it is missing; no other server may be using it */
    static EmbeddedRedis start(Path folder) {
        return start(folder, EmbeddedRedis::freePort);
    }

    static EmbeddedRedis start(Path folder, IntSupplier ports) {
        String binary = binary(System.getProperty("os.name"));
        try {
            Files.createDirectories(folder);
            Path pidFile = folder.resolve("redis.pid");
            awaitEarlierOne(pidFile, Duration.ofSeconds(10));
            Path log = folder.resolve("redis.log");
            for (int tries = 1; tries <= PORT_TRIES; tries++) {
                int port = ports.getAsInt();
                Path configuration = Files.write(
                        folder.resolve("redis.conf"),
                        List.of(
                                "bind " + host(),
                                "port " + port,
                                "dir " + quoted(folder),
                                "daemonize yes",
                                "pidfile " + quoted(pidFile),
                                "logfile " + quoted(log),
                                "save \"\"",
                                "appendonly yes",
                                "appendfsync everysec"));
                Process launcher = new ProcessBuilder(
                                "sh",
                                "-c",
                                launcherScript(),
                                "sh",
                                binary,
                                configuration.toString(),
                                pidFile.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .start();
                EmbeddedRedis redis = new EmbeddedRedis(port, launcher);
                if (redis.awaitAnswer(pidFile, log)) {
                    return redis;
                }
                redis.close();
            }
            throw new ExampleException("Other programs took the ports of the embedded Redis; see " + log);
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded Redis did not start in " + folder, e);
        }
    }

    /** {@code redis://host:port}. */
    String address() {
        return "redis://" + host() + ":" + port;
    }

    /** Stops the server and returns when everything is on disk. */
    @Override
    public void close() {
        try {
            launcher.getOutputStream().close();
            launcher.onExit().get(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (IOException | java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException("The embedded Redis could not be stopped", e);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "The embedded Redis is still running " + STOP_TIMEOUT.toSeconds() + " s after it was told to stop",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @param system the operating system's name, as in the system property {@code os.name} */
    static String binary(String system) {
        String instead =
                ". Set " + ExampleSettings.REDIS_ADDRESS + " to a Redis of yours, such as redis://localhost:6379";
        if (system.startsWith("Windows")) {
            throw new ExampleException("There is no embedded Redis for Windows" + instead);
        }
        try {
            return RedisExecProvider.defaultProvider().get().getPath();
        } catch (IOException | RuntimeException e) {
            throw new ExampleException(
                    "There is no embedded Redis for " + system + " on " + System.getProperty("os.arch") + instead, e);
        }
    }

    /** After a {@code kill -9} of the JVM its Redis ends by itself, a moment later. */
    static void awaitEarlierOne(Path pidFile, Duration timeout) throws IOException {
        if (!Files.exists(pidFile)) {
            return;
        }
        String pid = Files.readString(pidFile).trim();
        boolean ended = pid.isEmpty()
                || ProcessHandle.of(Long.parseLong(pid))
                        .filter(process -> process.info().command().orElse("").contains("redis-server"))
                        .map(process -> ends(process, timeout))
                        .orElse(true);
        if (!ended) {
            throw new ExampleException(
                    "The Redis of an earlier start still runs on " + pidFile.getParent() + ". Stop it: kill " + pid);
        }
        Files.deleteIfExists(pidFile);
    }

    private static boolean ends(ProcessHandle process, Duration timeout) {
        try {
            process.onExit().get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Returns false if another program has the port: it took it after we had found it free. */
    private boolean awaitAnswer(Path pidFile, Path log) throws IOException {
        long begin = System.nanoTime();
        long deadline = begin + START_TIMEOUT.toNanos();
        while (true) {
            String answer = answer();
            // Redis 7.0 writes this file as soon as it listens. (From 7.2 on it does so before.)
            boolean ours = Files.exists(pidFile);
            if (ours && "+PONG".equals(answer)) {
                return true;
            }
            if (!ours && answer != null && System.nanoTime() - begin > PORT_TIMEOUT.toNanos()) {
                return false;
            }
            if (!launcher.isAlive()) {
                throw new ExampleException("The embedded Redis ended as soon as it was started; " + log + " says why");
            }
            if (System.nanoTime() - deadline > 0) {
                close();
                throw new ExampleException("The embedded Redis did not answer within " + START_TIMEOUT.toSeconds()
                        + " s; " + log + " may say why");
            }
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException e) {
                close();
                throw new IOException("interrupted", e);
            }
        }
    }

    /**
     * What a server says to a PING: an error while it loads its data. Empty if it says nothing, null if nobody listens.
     */
    private String answer() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port), 1000);
            return answer(socket);
        } catch (IOException e) {
            return null;
        }
    }

    private static String answer(Socket socket) {
        try {
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            String reply = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
            return reply == null ? "" : reply;
        } catch (IOException e) {
            return "";
        }
    }

    private static String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    /** Below the ports that the system hands out to clients, of which one could be taken while the server starts. */
    private static int freePort() {
        for (int i = 0; i < 100; i++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 20_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // In use: the next one.
            }
        }
        throw new ExampleException("No free port found from 10000 to 19999 for the embedded Redis");
    }

    private static String quoted(Path path) {
        return '"' + path.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String launcherScript() throws IOException {
        try (InputStream script = EmbeddedRedis.class.getResourceAsStream("redis-launcher.sh")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
