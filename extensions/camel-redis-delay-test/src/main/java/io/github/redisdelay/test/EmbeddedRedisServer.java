// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import redis.embedded.RedisExecProvider;

/**
 * The {@code redis-server} binary inside {@code embedded-redis}, or the one that {@code -Dredis.server} names, as a
 * process of its own on the loopback address.
 *
 * <p>A shell between the two waits for the name of a signal on its standard input and sends it on. When this JVM dies,
 * however it dies, that input ends and the server is killed: no server outlives the tests.
 */
final class EmbeddedRedisServer extends RedisServer {

    /**
     * The shell ends the listener by its number. So the listener must not end before: the shell would reap it, and the
     * number could be that of another process by then, or of a thread of one. A JVM ends by that with the exit code 143.
     */
    private static final String LAUNCHER = String.join(
            "\n",
            "exec 3<&0",
            "\"$@\" 3<&- & server=$!",
            "{ read signal <&3 || signal=KILL; kill -s $signal $server; exec sleep 3600; } & listener=$!",
            "wait $server; status=$?",
            "kill $listener",
            "exit $status");

    private final int port = TestPorts.next();
    private final File binary;
    private final Path directory;
    private final List<String> config = new ArrayList<>();
    private final List<String> arguments;
    private Process process;

    /** @param arguments of the command line, behind the name of the configuration file */
    EmbeddedRedisServer(List<String> configLines, String... arguments) {
        this(binary(), "-D" + BINARY_PROPERTY + "=", configLines, arguments);
    }

    /** @param named what has named the binary, for the error where it cannot be executed */
    EmbeddedRedisServer(File binary, String named, List<String> configLines, String... arguments) {
        this.binary = binary;
        if (!binary.canExecute()) {
            throw new IllegalStateException(named + binary
                    + " is no file that can be executed: give the path of a redis-server or valkey-server");
        }
        this.arguments = List.of(arguments);
        try {
            directory = Files.createTempDirectory("redis-test");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        config.add("bind " + host());
        config.add("port " + port);
        config.add("dir " + directory);
        config.add("save \"\"");
        config.add("appendonly no");
        config.addAll(configLines);
    }

    /** True if a binary is named, or if the library has one for this system and processor; it has none for Windows. */
    static boolean isAvailable() {
        return binary() != null;
    }

    private static File binary() {
        String named = property(BINARY_PROPERTY);
        return named == null ? Binary.FILE : new File(named);
    }

    @Override
    public String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public synchronized void start() {
        if (process != null) {
            throw new IllegalStateException("Redis at " + address() + " is running already");
        }
        Path log = directory.resolve("redis.log");
        try {
            Path conf = Files.write(directory.resolve("redis.conf"), config);
            List<String> command =
                    new ArrayList<>(List.of("sh", "-c", LAUNCHER, "sh", binary.getPath(), conf.toString()));
            command.addAll(arguments);
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            awaitAnswer(process::isAlive);
        } catch (IOException e) {
            kill();
            throw new UncheckedIOException(e.getMessage() + "; its log:\n" + read(log), e);
        }
    }

    @Override
    public synchronized void stop() {
        end("TERM");
    }

    @Override
    public synchronized void kill() {
        end("KILL");
    }

    private void end(String signal) {
        if (process == null) {
            return;
        }
        if (process.isAlive()) {
            try (BufferedWriter input = process.outputWriter(StandardCharsets.US_ASCII)) {
                input.write(signal + "\n");
            } catch (IOException e) {
                throw new UncheckedIOException("Redis at " + address() + " could not be stopped", e);
            }
        }
        process.onExit().join();
        process = null;
    }

    @Override
    public synchronized void close() {
        kill();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new UncheckedIOException("Files of a stopped Redis could not be deleted", e);
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return "(unreadable: " + e + ")";
        }
    }

    private static final class Binary {

        static final File FILE = unpack();

        private static File unpack() {
            try {
                return RedisExecProvider.defaultProvider().get();
            } catch (IOException | RuntimeException e) {
                return null;
            }
        }
    }
}
