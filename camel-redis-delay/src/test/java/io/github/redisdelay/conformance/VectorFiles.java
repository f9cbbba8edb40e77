// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.testkit.GoldenFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The files of the conformance kit that tests write, see {@link GoldenFile}. */
final class VectorFiles {

    static final Path KIT =
            Path.of(Files.exists(Path.of("../verification")) ? ".." : "../..", "verification/conformance");

    private static final Path VECTORS = KIT.resolve("vectors");

    /** The lines of a step or of another small object, by the names of its members. */
    private static final List<List<String>> LINES = List.of(
            List.of("at", "redis", "call"),
            List.of("base", "script", "keys", "argv"),
            List.of("reply", "result", "wakeups"),
            List.of("after", "ttl"));

    private VectorFiles() {}

    /** A vector: its title, and its steps. */
    record Vector(String title, List<Map<String, Object>> steps) {
        private String text() {
            return "{\"vector\": " + Json.write(title) + ", \"steps\": [\n"
                    + steps.stream().map(step -> Json.lines(step, LINES)).collect(Collectors.joining(",\n")) + "\n]}";
        }
    }

    static void assertVectors(String file, List<Vector> vectors) {
        assertSame(file, "[\n" + vectors.stream().map(Vector::text).collect(Collectors.joining(",\n")) + "\n]");
    }

    /** A list of objects, one a line. */
    static void assertRows(String file, List<Map<String, Object>> rows) {
        assertSame(file, rows.stream().map(Json::write).collect(Collectors.joining(",\n", "[\n", "\n]")));
    }

    /**
     * All that a client has to know of a script to send it.
     *
     * @param folder of the scripts, from the root
     */
    static void assertScripts(String file, String folder, LuaScript... scripts) {
        assertRows(
                file,
                Arrays.stream(scripts)
                        .map(script -> Json.object(
                                "script", script.command(),
                                "file", folder + "/" + script.command() + ".lua",
                                "sha1", script.sha(),
                                "head",
                                        script.source()
                                                .substring(0, script.source().indexOf("\n--") + 1),
                                "keys",
                                        Stream.concat(script.keyNames().stream(), priorities(script).stream())
                                                .toList()))
                        .toList());
    }

    /** The names of the keys of priorities and groups, if the script has them. */
    static List<String> priorities(LuaScript script) {
        List<String> names = new ArrayList<>();
        if (script.usesPriorities()) {
            IntStream.rangeClosed(1, 9).forEach(priority -> names.add("delayed:" + priority));
            names.addAll(List.of("parked", "groups", "gates", "opens"));
        }
        return names;
    }

    private static void assertSame(String file, String text) {
        GoldenFile.assertSame(VECTORS.resolve(file), List.of(text));
    }
}
