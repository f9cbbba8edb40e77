// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import redis.embedded.RedisExecProvider;

/** The {@code redis-server} that everything is measured on, which writes nothing to disk. */
public final class RedisProcess implements AutoCloseable {

    private final String binary;
    private final ServerProcess server;

    private RedisProcess(String binary, ServerProcess server) {
        this.binary = binary;
        this.server = server;
    }

    /**
     * Starts a server.
     *
     * @param named the path of a binary, or empty for the one of the {@code PATH}, or where that has none for the one
     *     inside {@code embedded-redis}
     */
    public static RedisProcess start(String named, Path log) throws IOException, InterruptedException {
        String binary = binary(named);
        ServerProcess server = ServerProcess.start(port -> command(binary, port), log, "PING", '+');
        return new RedisProcess(binary, server);
    }

    private static List<String> command(String binary, int port) {
        return List.of(
                binary,
                "--bind",
                ServerProcess.host(),
                "--port",
                Integer.toString(port),
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no");
    }

    private static String binary(String named) throws IOException {
        if (!named.isEmpty()) {
            if (!Files.isExecutable(Path.of(named))) {
                throw new IOException("-Dredis.server is " + named + ": it must be the path of a redis-server");
            }
            return named;
        }
        Optional<Path> found = ServerProcess.onPath("redis-server");
        return found.isPresent()
                ? found.get().toString()
                : RedisExecProvider.defaultProvider().get().getPath();
    }

    /** The path of the binary. */
    public String binary() {
        return binary;
    }

    /** {@code redis://host:port}. */
    public String address() {
        return "redis://" + ServerProcess.host() + ":" + server.port();
    }

    @Override
    public void close() {
        server.close();
    }
}
