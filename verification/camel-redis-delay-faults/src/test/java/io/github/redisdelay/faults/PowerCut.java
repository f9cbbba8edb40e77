// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.embedded.RedisExecProvider;

/**
 * Programs for servers that lose with {@code kill -9} what they have not synced to disk, as in a power cut:
 * {@code lose.c}, compiled here, runs them. The servers are those of
 * {@code -Dpowercut.servers=/path/to/one,/path/to/another}, or else the one that all tests take.
 */
final class PowerCut {

    /** A program, and what it calls itself, such as {@code Redis 7.0.15}. */
    record Binary(Path path, String version) {

        @Override
        public String toString() {
            return version;
        }
    }

    private static final Path SOURCE = Path.of("src", "test", "c", "lose.c");
    private static final Path LOSE = Path.of("target", "lose").toAbsolutePath();
    /** Writes its second argument into a new program in the folder of its first, and tells the name. */
    private static final String WRITE_PROGRAM = "set -e; program=$(mktemp -p \"$1\"); "
            + "printf %s \"$2\" > \"$program\"; chmod 700 \"$program\"; printf %s \"$program\"";

    private static final Pattern VERSION = Pattern.compile("(Redis|Valkey) server v=(\\S+)");

    private PowerCut() {}

    static List<Binary> servers() throws Exception {
        List<Binary> found = new ArrayList<>();
        for (String path : named().split(",")) {
            Matcher version = VERSION.matcher(run(path.trim(), "--version"));
            assertThat(version.find()).as("a version of " + path).isTrue();
            found.add(new Binary(Path.of(path.trim()), version.group(1) + " " + version.group(2)));
        }
        return found;
    }

    /** True in the long form, and where servers are named: then everything is tried. */
    static boolean isLong() {
        return Experiment.rounds() > 1 || System.getProperty("powercut.servers") != null;
    }

    private static String named() throws IOException {
        String named = System.getProperty("powercut.servers", System.getProperty("redis.server"));
        return named == null ? RedisExecProvider.defaultProvider().get().getPath() : named;
    }

    /**
     * A program that runs a server in this way, after {@link #prepare}.
     *
     * @param settings of {@code lose.c}, such as {@code LOSE_TORN=1}
     */
    static Path program(Binary binary, String... settings) throws Exception {
        String text = "#!/bin/sh\nexec env " + String.join(" ", settings) + " '" + LOSE + "' '" + binary.path()
                + "' \"$@\"\n";
        // Not written by this JVM: a child that it begins at that moment has the file open too, and a file that is open
        // for writing cannot be executed.
        Path script =
                Path.of(run("sh", "-c", WRITE_PROGRAM, "sh", LOSE.getParent().toString(), text)
                        .trim());
        script.toFile().deleteOnExit();
        return script;
    }

    /** Compiles it, or skips the tests where something for it is missing. */
    static void prepare() throws Exception {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "power cuts are tried on Linux");
        if (!Files.exists(LOSE) || Files.getLastModifiedTime(LOSE).compareTo(Files.getLastModifiedTime(SOURCE)) < 0) {
            try {
                run("cc", "--version");
            } catch (IOException e) {
                assumeTrue(false, "no C compiler was found: install one as 'cc' (" + e.getMessage() + ")");
            }
            run("cc", "-O2", "-Wall", "-o", LOSE.toString(), SOURCE.toString());
        }
        Process traced = new ProcessBuilder(
                        LOSE.toString(),
                        "/bin/true",
                        LOSE.resolveSibling("none.conf").toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(traced.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assumeTrue(traced.waitFor() == 0, "processes cannot be traced here: " + output);
    }

    /** Runs a program to its end, and returns what it writes. */
    static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as(Arrays.toString(command) + "\n" + output)
                .isZero();
        return output;
    }
}
