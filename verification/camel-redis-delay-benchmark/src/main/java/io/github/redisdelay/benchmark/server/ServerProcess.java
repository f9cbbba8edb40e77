// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.server;

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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** A server as a process of its own on a free port of the loopback address. It ends with the JVM. */
public final class ServerProcess implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

    private final int port;
    private final Process process;
    private final Thread hook;

    private ServerProcess(int port, Process process) {
        this.port = port;
        this.process = process;
        this.hook = new Thread(process::destroyForcibly, "stop-server");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Starts a server.
     *
     * @param command of a port
     * @param log what the server says
     * @param ping a line that is asked until it is answered
     * @param answer the first character of the answer
     */
    public static ServerProcess start(IntFunction<List<String>> command, Path log, String ping, char answer)
            throws IOException, InterruptedException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Process process = new ProcessBuilder(command.apply(port))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        ServerProcess server = new ServerProcess(port, process);
        long begin = System.nanoTime();
        while (!server.answers(ping, answer)) {
            if (!process.isAlive() || System.nanoTime() - begin > START_TIMEOUT.toNanos()) {
                server.close();
                throw new IOException("No answer from " + command.apply(port) + "; its log:\n" + Files.readString(log));
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return server;
    }

    /** A program of the {@code PATH}. */
    static Optional<Path> onPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, program).toAbsolutePath())
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst();
    }

    public static String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    public int port() {
        return port;
    }

    private boolean answers(String ping, char answer) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port), 1000);
            socket.setSoTimeout(1000);
            socket.getOutputStream().write((ping + "\r\n").getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == answer;
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
