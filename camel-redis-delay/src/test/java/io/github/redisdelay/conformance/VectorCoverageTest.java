// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.Test;

/** The vectors, all together, have each script, word, outcome and error. It reads them, and so has no name of the tests that write. */
class VectorCoverageTest {

    private static final Path PAGE = Path.of("../docs/protocol.md");

    /** What a server says of itself or of the call: no script makes these. */
    private static final Set<String> OF_SERVERS = Set.of(
            "NOSCRIPT",
            "MOVED",
            "ASK",
            "TRYAGAIN",
            "CLUSTERDOWN",
            "LOADING",
            "READONLY",
            "MASTERDOWN",
            "NOREPLICAS",
            "BUSY",
            "OOM",
            "NOPERM",
            "can't run this command",
            "ACL failure in script",
            "can't publish to the channel",
            "No permissions to access a channel");

    /** Types that share a row of the page, and one with another name there. */
    private static final Map<String, String> SEVERAL_TYPES = Map.of(
            "integer of 8, 16, 32, 64 bits", "int8 int16 int32 int64",
            "floating point of 32, 64 bits", "float32 float64",
            "integer of any size", "integer");

    /** A step of a vector. */
    private record Step(String script, String error, List<byte[]> arguments, byte[] reply) {

        @SuppressWarnings("unchecked")
        static Step of(Map<String, Object> step) {
            Object reply = step.get("reply");
            String error = reply instanceof Map<?, ?> special ? (String) special.get("error") : null;
            return new Step(
                    (String) step.get("script"),
                    error,
                    ((List<String>) step.get("argv")).stream().map(Step::bytes).toList(),
                    reply instanceof String text ? bytes(text) : new byte[0]);
        }

        private static byte[] bytes(String text) {
            return text.startsWith("hex:")
                    ? HexFormat.of().parseHex(text, 4, text.length())
                    : text.getBytes(StandardCharsets.UTF_8);
        }

        boolean says(String word) {
            return arguments.stream().anyMatch(each -> new String(each, StandardCharsets.ISO_8859_1).contains(word));
        }

        Stream<Integer> outcomes() {
            return IntStream.range(0, (reply.length - 8) / 9).mapToObj(i -> (int) reply[8 + 9 * i]);
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Step> steps() throws Exception {
        List<Step> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(VectorFiles.KIT.resolve("vectors"))) {
            for (Path file : files.toList()) {
                for (Map<String, Object> row : (List<Map<String, Object>>) Jsoner.deserialize(Files.readString(file))) {
                    ((List<Map<String, Object>>) row.getOrDefault("steps", List.of()))
                            .stream()
                                    .filter(step -> step.containsKey("script"))
                                    .map(Step::of)
                                    .forEach(all::add);
                }
            }
        }
        assertThat(all).hasSizeGreaterThan(200);
        return all;
    }

    @Test
    void should_have_each_script_that_the_page_names() throws Exception {
        Set<String> played = steps().stream()
                .filter(step -> step.error == null)
                .map(Step::script)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> all = Arrays.stream(LuaScript.values())
                .map(LuaScript::command)
                .collect(Collectors.toCollection(TreeSet::new));
        all.addAll(List.of("import", "look")); // of another module
        assertThat(played).isEqualTo(all);
        String page = Files.readString(PAGE);
        String table = page.substring(page.indexOf("| scripts | |"), page.indexOf("A line `--@include"));
        Set<String> named = matches("`(\\w+)\\.lua`", table);
        assertThat(named).isNotEmpty();
        assertThat(played).containsAll(named);
    }

    private static Map<String, String> pairs(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .collect(Collectors.toMap(
                        match -> match.group(1), match -> match.group(2), (first, second) -> first, TreeMap::new));
    }

    private static Set<String> matches(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void should_have_each_error_of_the_scripts_and_of_the_page() throws Exception {
        Set<String> refused = steps().stream()
                .filter(step -> step.error != null)
                .map(step -> step.script + ": " + step.error.replace("REDISDELAY ", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        for (String line : Files.readAllLines(Path.of("src/test/resources/golden/script-errors.txt"))) {
            String word = line.replaceFirst("command/(\\w+)\\.lua|include/\\w+\\.lua", "$1")
                    .replace("…", "");
            assertThat(refused)
                    .as(line)
                    .anyMatch(error -> error.startsWith(word) || word.startsWith(":") && error.contains(word));
        }
        String page = Files.readString(PAGE);
        String table = page.substring(page.indexOf("| error | what it means"), page.indexOf("### A call as bytes"));
        Set<String> words = matches(
                "`(?:REDISDELAY )?([A-Za-z' ]+)(?:: [N…])?`",
                table.lines()
                        .map(row -> row.split("\\|"))
                        .filter(row -> row.length > 1)
                        .map(row -> row[1])
                        .collect(Collectors.joining("\n")));
        assertThat(words).contains("argument", "OOM").hasSizeGreaterThan(OF_SERVERS.size() + 5);
        words.removeAll(OF_SERVERS);
        assertThat(words).allSatisfy(word -> assertThat(refused).anyMatch(error -> error.contains(": " + word)));
    }

    @Test
    void should_have_each_word_and_outcome() throws Exception {
        List<Step> steps = steps();
        Arrays.stream(ChangeAction.values())
                .map(action -> new String(action.word(), StandardCharsets.US_ASCII))
                .forEach(word -> assertSaid(steps, "change", word));
        Stream.of(
                        "acknowledge",
                        "retry",
                        "release",
                        "dead-letter",
                        "drop",
                        "extend",
                        "run-done",
                        "run-dead-letter",
                        " pause=")
                .forEach(word -> assertSaid(steps, "settle", word));
        Map<String, Set<Integer>> outcomes = steps.stream()
                .collect(Collectors.groupingBy(
                        Step::script, Collectors.flatMapping(Step::outcomes, Collectors.toCollection(TreeSet::new))));
        assertThat(outcomes.get("schedule")).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(outcomes.get("change")).containsExactly(0, 1, 2, 3, 4, 21);
        assertThat(outcomes.get("settle")).containsExactly(1, 2, 3);
        assertThat(outcomes.get("acknowledge")).containsExactly(1, 2, 3);
        assertThat(outcomes.get("redrive")).containsExactly(0, 1, 2, 3);
        assertThat(outcomes.get("import")).containsExactly(1, 2, 3, 4, 5);
    }

    private static void assertSaid(List<Step> steps, String script, String word) {
        assertThat(steps.stream().anyMatch(step -> step.script.equals(script) && step.says(word)))
                .as(script + " with '" + word + "'")
                .isTrue();
    }

    /** The tables of the page and those of {@code plain.py}, which checks the envelopes that the Java client writes, are the same. */
    @Test
    void should_have_the_fields_and_types_of_the_page() throws IOException {
        String page = Files.readString(PAGE);
        String fields = page.substring(page.indexOf("A **field** is its tag"), page.indexOf("A **value** is its type"));
        String values = page.substring(page.indexOf("A **value** is its type"), page.indexOf("## The failure record"));
        String kit = Files.readString(VectorFiles.KIT.resolve("plain.py"));
        Map<String, String> tags = pairs("`(0x\\d\\d)` \\| ([a-z ]+\\w)", fields);
        assertThat(tags.remove("0x02")).isEqualTo("a header");
        assertThat(tags.remove("0x83")).isEqualTo("reserved for the group");
        tags.replaceAll((tag, words) -> Pattern.compile(" (\\w)").matcher(words).replaceAll(word -> word.group(1)
                .toUpperCase(Locale.ROOT)));
        assertThat(tags).isEqualTo(pairs("(0x\\d\\d): '(\\w+)'", kit));
        Map<String, String> types = new TreeMap<>();
        pairs("(?m)^\\| (\\d[\\d, ]*) \\| ([a-zA-Z][^|]*) \\|", values).forEach((codes, words) -> {
            String[] names = SEVERAL_TYPES
                    .getOrDefault(words, words.toLowerCase(Locale.ROOT))
                    .split(" ");
            String[] all = codes.split(", ");
            assertThat(names).as(words).hasSameSizeAs(all);
            IntStream.range(0, all.length).forEach(i -> types.put(all[i], names[i]));
        });
        assertThat(types).isEqualTo(pairs("\\b(\\d+): '(\\w+)'", kit));
    }

    @Test
    void should_stay_small_enough_to_be_read() throws IOException {
        try (Stream<Path> files = Files.list(VectorFiles.KIT.resolve("vectors"))) {
            assertThat(files.mapToLong(file -> file.toFile().length()).sum()).isLessThan(400_000);
        }
    }
}
