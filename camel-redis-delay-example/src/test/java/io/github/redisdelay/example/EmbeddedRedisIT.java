// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.test.TestPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

class EmbeddedRedisIT {

    @TempDir
    Path parent;

    private Path folder;

    @BeforeEach
    void setUp() {
        folder = parent.resolve("a folder with \"spaces\"");
    }

    @Test
    void whatWasStoredIsThereAfterARestart() {
        try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
            ask(redis, client -> client.getBucket("kept", StringCodec.INSTANCE).trySet("yes"));
        }
        try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
            assertThat(ask(redis, client -> client.getBucket("kept", StringCodec.INSTANCE)
                            .get()))
                    .isEqualTo("yes");
        }
    }

    @Test
    void aPortThatAnotherServerTookIsNotUsed() {
        try (EmbeddedRedis other = EmbeddedRedis.start(parent.resolve("other"))) {
            ask(other, client -> client.getBucket("whose", StringCodec.INSTANCE).trySet("other"));
            int taken = Integer.parseInt(other.address().replaceFirst(".*:", ""));
            Iterator<Integer> ports = List.of(taken, TestPorts.next()).iterator();
            try (EmbeddedRedis redis = EmbeddedRedis.start(folder, ports::next)) {
                assertThat(redis.address()).isNotEqualTo(other.address());
                assertThat(ask(redis, client -> client.getKeys().count())).isEqualTo(0L);
            }
            assertThat(folder.resolve("redis.pid")).doesNotExist();
            assertThat(ask(other, client -> client.getKeys().count())).isEqualTo(1L);
        }
    }

    @Test
    void aClosedOneIsGone() throws IOException {
        ProcessHandle server;
        try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
            server = server();
            assertThat(server.isAlive()).isTrue();
        }
        assertThat(Files.exists(folder.resolve("redis.pid"))).isFalse();
        server.onExit().join();
    }

    @Test
    void aSignalForTheWholeProcessGroupDoesNotReachIt() throws Exception {
        try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
            ProcessHandle launcher = ProcessHandle.current()
                    .children()
                    .filter(child -> child.info().command().orElse("").endsWith("sh"))
                    .findAny()
                    .orElseThrow();

            assertThat(processGroup(server())).isNotEqualTo(processGroup(ProcessHandle.current()));
            assertThat(processGroup(launcher)).isEqualTo(processGroup(ProcessHandle.current()));
            for (String signal : new String[] {"INT", "TERM", "HUP"}) {
                output("kill", "-s", signal, String.valueOf(launcher.pid()));
            }

            assertThat(ask(redis, client -> client.getKeys().count())).isEqualTo(0L);
            assertThat(launcher.isAlive()).isTrue();
        }
    }

    @Test
    void oneThatStillRunsIsNotDisturbed() throws IOException {
        try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
            assertThatThrownBy(() -> EmbeddedRedis.awaitEarlierOne(folder.resolve("redis.pid"), Duration.ZERO))
                    .isInstanceOf(ExampleException.class)
                    .hasMessageContaining("kill " + server().pid());

            assertThat(ask(redis, client -> client.getKeys().count())).isEqualTo(0L);
        }
    }

    @Test
    void theNumberOfAnEndedOneIsForgotten() throws IOException {
        Files.createDirectories(folder);
        Path pidFile = folder.resolve("redis.pid");
        // Another program has it now.
        Files.writeString(pidFile, ProcessHandle.current().pid() + "\n");

        EmbeddedRedis.awaitEarlierOne(pidFile, Duration.ZERO);

        assertThat(pidFile).doesNotExist();
    }

    @Test
    void onWindowsTheErrorSaysWhatToDo() {
        assertThatThrownBy(() -> EmbeddedRedis.binary("Windows 11"))
                .isInstanceOf(ExampleException.class)
                .hasMessage("There is no embedded Redis for Windows. Set REDIS_ADDRESS to a Redis of yours, such as"
                        + " redis://localhost:6379");
    }

    private ProcessHandle server() throws IOException {
        long pid = Long.parseLong(Files.readString(folder.resolve("redis.pid")).trim());
        return ProcessHandle.of(pid).orElseThrow();
    }

    private static String processGroup(ProcessHandle process) throws Exception {
        return output("ps", "-o", "pgid=", "-p", String.valueOf(process.pid())).trim();
    }

    private static String output(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static Object ask(EmbeddedRedis redis, Function<RedissonClient, Object> question) {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address()).setConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        try {
            return question.apply(client);
        } finally {
            client.shutdown();
        }
    }
}
