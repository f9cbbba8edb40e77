// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import redis.embedded.RedisExecProvider;

/**
 * The {@code redis-server} that everything is measured on: a process of its own on a free port of the loopback address,
 * which writes nothing to disk. It ends with the JVM.
 */
final class RedisProcess implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

    private final String binary;
    private final int port;
    private final Process process;
    private final Thread hook;

    private RedisProcess(String binary, int port, Process process) {
        this.binary = binary;
        this.port = port;
        this.process = process;
        this.hook = new Thread(process::destroyForcibly, "stop-redis");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Starts a server.
     *
     * @param named the path of a binary, or empty for the one of the {@code PATH}, or where that has none for the one inside
     *     {@code embedded-redis}
     */
    static RedisProcess start(String named, Path log) throws IOException, InterruptedException {
        String binary = binary(named);
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Process process = new ProcessBuilder(
                        binary,
                        "--bind",
                        host(),
                        "--port",
                        Integer.toString(port),
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--daemonize",
                        "no")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        RedisProcess server = new RedisProcess(binary, port, process);
        long begin = System.nanoTime();
        while (!server.answers()) {
            if (!process.isAlive() || System.nanoTime() - begin > START_TIMEOUT.toNanos()) {
                server.close();
                throw new IOException("No answer from " + binary + "; its log:\n" + Files.readString(log));
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return server;
    }

    private static String binary(String named) throws IOException {
        if (!named.isEmpty()) {
            if (!Files.isExecutable(Path.of(named))) {
                throw new IOException("-Dredis.server is " + named + ": it must be the path of a redis-server");
            }
            return named;
        }
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, "redis-server");
            if (Files.isExecutable(file)) {
                return file.toString();
            }
        }
        return RedisExecProvider.defaultProvider().get().getPath();
    }

    /** The path of the binary. */
    String binary() {
        return binary;
    }

    /** {@code redis://host:port}. */
    String address() {
        return "redis://" + host() + ":" + port;
    }

    private static String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    private boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port), 1000);
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == '+';
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM ends already, and the hook has done it.
        }
    }
}
