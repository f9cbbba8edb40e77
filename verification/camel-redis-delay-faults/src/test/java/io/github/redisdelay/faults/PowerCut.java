// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Servers that lose with {@code kill -9} what they have not synced to disk, as in a power cut: {@code lose.c}, compiled
 * here, is loaded before them. Takes the redis-server and the valkey-server on the path, and those of
 * {@code -Dpowercut.servers=/path/to/one,/path/to/another}.
 */
final class PowerCut {

    /** A program, and what it calls itself, such as {@code Redis 7.0.15}; null for a server that was not found. */
    record Binary(Path path, String version) {

        @Override
        public String toString() {
            return path == null ? "no server" : version;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final Path SOURCE = Path.of("src", "test", "c", "lose.c");
    private static final Path LIBRARY = Path.of("target", "lose.so").toAbsolutePath();
    private static final Pattern VERSION = Pattern.compile("(Redis|Valkey) server v=(\\S+)");

    private PowerCut() {}

    /** The servers that are found; one that is none, if there is none, so that a test can be skipped for it. */
    static List<Binary> servers() throws Exception {
        List<Path> paths = new ArrayList<>();
        for (String named : System.getProperty("powercut.servers", "").split(",")) {
            if (!named.isBlank()) {
                paths.add(Path.of(named.trim()));
            }
        }
        for (String name : List.of("redis-server", "valkey-server")) {
            Stream.of(System.getenv("PATH").split(File.pathSeparator))
                    .map(directory -> Path.of(directory, name))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .ifPresentOrElse(
                            paths::add, () -> LOG.info("power cuts: no {} on the path, none is tried of it", name));
        }
        List<Binary> found = new ArrayList<>();
        for (Path path : paths) {
            Matcher version = VERSION.matcher(run(path.toString(), "--version"));
            assertThat(version.find()).as("a version of " + path).isTrue();
            found.add(new Binary(path, version.group(1) + " " + version.group(2)));
        }
        return found.isEmpty() ? List.of(new Binary(null, "")) : found;
    }

    /** Starts one, or skips the test where something for it is missing. */
    static RedisServer start(Binary binary, String appendfsync) throws Exception {
        assumeTrue(
                binary.path() != null,
                "no redis-server or valkey-server was found: install one, or name it with -Dpowercut.servers=");
        compile();
        Path script = Files.createTempFile(LIBRARY.getParent(), "powercut", ".sh");
        Files.writeString(script, "#!/bin/sh\nexec env LD_PRELOAD='" + LIBRARY + "' '" + binary.path() + "' \"$@\"\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        RedisServer server = RedisServer.process(script, "appendonly yes", "appendfsync " + appendfsync);
        Matcher pid = Pattern.compile("process_id:(\\d+)").matcher(MasterAndReplica.info(server, "server"));
        assertThat(pid.find()).isTrue();
        if (!Files.readString(Path.of("/proc", pid.group(1), "maps")).contains(LIBRARY.toString())) {
            server.close();
            assumeTrue(false, binary.path() + " is linked statically: no library can be loaded before it");
        }
        return server;
    }

    private static synchronized void compile() throws Exception {
        if (Files.exists(LIBRARY)
                && Files.getLastModifiedTime(LIBRARY).compareTo(Files.getLastModifiedTime(SOURCE)) >= 0) {
            return;
        }
        assumeTrue(Files.isDirectory(Path.of("/proc", "self")), "no /proc: power cuts are tried on Linux");
        try {
            run("cc", "--version");
        } catch (IOException e) {
            assumeTrue(false, "no C compiler was found: install one as 'cc' (" + e.getMessage() + ")");
        }
        run("cc", "-shared", "-fPIC", "-O2", "-o", LIBRARY.toString(), SOURCE.toString(), "-ldl");
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as(String.join(" ", command) + "\n" + output)
                .isZero();
        return output;
    }
}
