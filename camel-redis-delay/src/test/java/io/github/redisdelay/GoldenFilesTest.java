// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.testkit.GoldenFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.Test;

/** The names that users write into routes, configurations, dashboards and scripts. See {@link GoldenFile}. */
class GoldenFilesTest {

    private static final Path OPTIONS =
            Path.of("src/generated/resources/META-INF/io/github/redisdelay/camel/redis-delay.json");
    private static final Path SCRIPTS = Path.of("src/main/resources/io/github/redisdelay/queue/lua");

    private static final Pattern ERROR = Pattern.compile("'REDISDELAY ([^']*)'( \\.\\.)?");

    @Test
    void should_have_these_options() throws Exception {
        List<String> lines = new ArrayList<>();
        lines.addAll(lines("componentProperties", (name, option) -> "component " + option(name, option)));
        lines.addAll(lines("properties", (name, option) -> "endpoint " + option(name, option)));
        GoldenFile.assertSame("options.txt", lines);
    }

    private static String option(String name, JsonObject option) {
        Object initial = option.get("defaultValue");
        List<?> words = (List<?>) option.get("enum");
        return name + " " + option.getString("javaType") + (initial == null ? "" : " = " + initial)
                + (words == null ? "" : " of " + words);
    }

    @Test
    void should_have_these_headers() throws Exception {
        GoldenFile.assertSame(
                "headers.txt",
                lines(
                        "headers",
                        (name, header) -> name + " " + header.getString("javaType") + " " + header.getString("label")));
    }

    private static List<String> lines(String section, BiFunction<String, JsonObject, String> line) throws Exception {
        JsonObject all = (JsonObject) Jsoner.deserialize(Files.readString(OPTIONS));
        JsonObject members = (JsonObject) all.get(section);
        return members.entrySet().stream()
                .map(member -> line.apply(member.getKey(), (JsonObject) member.getValue()))
                .sorted()
                .toList();
    }

    @Test
    void should_have_these_operations() {
        GoldenFile.assertSame(
                "operations.txt",
                Arrays.stream(RedisDelayOperation.values())
                        .map(RedisDelayOperation::toString)
                        .sorted()
                        .toList());
    }

    @Test
    void should_have_scripts_with_these_errors() throws IOException {
        try (Stream<Path> files = Files.walk(SCRIPTS)) {
            List<String> lines = new ArrayList<>();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                ERROR.matcher(Files.readString(file))
                        .results()
                        .map(match ->
                                SCRIPTS.relativize(file) + ": " + match.group(1) + (match.group(2) == null ? "" : "…"))
                        .forEach(lines::add);
            }
            GoldenFile.assertSame(
                    "script-errors.txt", lines.stream().distinct().sorted().collect(Collectors.toList()));
        }
    }
}
