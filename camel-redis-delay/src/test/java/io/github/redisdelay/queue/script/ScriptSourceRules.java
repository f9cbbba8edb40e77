// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules for the text of the scripts of a module. They need no Redis. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ScriptSourceRules {

    final ScriptSet set;

    ScriptSourceRules(ScriptSet set) {
        this.set = set;
    }

    List<LuaScript> scripts() {
        return set.scripts();
    }

    String file(String name) {
        try (InputStream in = new URL(set.folder() + "/" + name).openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The code of a script without its comments. */
    String code(String name) {
        return file(name).replaceAll("--[^\\n]*", "");
    }

    @Test
    void should_know_all_scripts() throws Exception {
        Set<String> found = new TreeSet<>();
        Path folder = Path.of(set.folder().toURI());
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> found.add(folder.relativize(file).toString()));
        }
        assertThat(found).isEqualTo(new TreeSet<>(set.files()));
        for (LuaScript script : set.scripts()) {
            assertThat(script.source()).doesNotContain("--@include");
        }
    }

    /** The rest of a file behind its first comment and the lines that follow it. */
    private static final Pattern TOP = Pattern.compile("^(--[^\\n]*\\n)+\\n(--@include \\S+\\n)*\\n?");

    @ParameterizedTest
    @MethodSource("scripts")
    void should_include_on_top_only(LuaScript script) {
        assertThat(TOP.matcher(file(set.fileOf(script))).replaceFirst("")).doesNotContain("--@include");
    }

    /** The numbered names in the header of a script, such as {@code 1 SCHEDULED}, in their order. */
    List<String> numbered(LuaScript script, int first) {
        List<String> names = new ArrayList<>();
        Matcher name = Pattern.compile("(?m)^-- +(\\d) ([A-Z_]+)\\b").matcher(file(set.fileOf(script)));
        while (name.find()) {
            assertThat(Integer.parseInt(name.group(1))).isEqualTo(first + names.size());
            names.add(name.group(2));
        }
        return names;
    }

    @Test
    void should_never_format_a_number_in_a_way_that_loses_microseconds() {
        for (String name : set.files()) {
            String code = code(name);
            assertThat(code).as(name).doesNotContain("tostring(", "cjson", "cmsgpack", "table.concat(leases");
            // A priority has one digit.
            code = code.replace("string.format('%d', record.priority % RECORD_DEAD)", "");
            Matcher format = Pattern.compile("string\\.format\\(([^,]*),").matcher(code);
            while (format.find()) {
                assertThat(format.group(1)).as(name).matches("'\\(?%\\.0f'");
            }
        }
    }

    /** The operands of a {@code ..}: text, never a number that could be a time. */
    private static final Set<String> CONCATENATED = Set.of(
            "", // a text in quotes
            "what",
            "kinds",
            "more_kinds",
            "ARGV[1]", // the name of a session
            "ARGV[i]", // a bound of an outlook as it came
            "ARGV[8]", // a body
            "version",
            "result",
            "base",
            "i", // a position, below 257
            "id",
            "ids[i]",
            "names",
            "r.failure",
            "bodies[i]",
            "body",
            "name",
            "brief", // made by struct.pack, as are the next
            "lengths",
            "due",
            "time",
            "digits",
            "cursor",
            "number", // a position, or nothing
            "id_length", // a small number, as are the next
            "time_length",
            "length",
            "arguments[4 + i]", // a body
            "partitions", // a text already, as are the next
            "last",
            "score");

    @Test
    void should_never_glue_a_time_to_a_text() {
        for (String name : set.files()) {
            for (String line : code(name).split("\n")) {
                if (!line.contains("..")) {
                    continue;
                }
                String plain = line.replaceAll("'[^']*'", "''");
                // Calls whose result is text.
                String before;
                do {
                    before = plain;
                    plain = plain.replaceAll(
                            "(string\\.format|string\\.rep|struct\\.pack|string\\.sub|math\\.max)\\([^()]*\\)", "''");
                } while (!plain.equals(before));
                // Arguments and assignments end an operand.
                int found = 0;
                for (String expression : plain.split("[(),{}]|==?|\\b(return|and|or|local)\\b")) {
                    String[] operands = expression.split("\\.\\.", -1);
                    for (int i = 0; operands.length > 1 && i < operands.length; i++) {
                        found++;
                        assertThat(CONCATENATED)
                                .as(name + ": " + line.trim())
                                .contains(operands[i].replace("''", "").trim());
                    }
                }
                assertThat(found)
                        .as("operands understood in " + name + ": " + line.trim())
                        .isPositive();
            }
        }
    }

    @Test
    void should_touch_no_key_that_is_not_in_KEYS() {
        Set<String> names = Set.of(("messages delayed leased state config sessions consumers index"
                        + " queue_messages queue_delayed queue_leased queue_state queue_config"
                        + " seen session_key seen_key row_consumers wakeup_waiters"
                        + " dead_messages dead_delayed dead_leased dead_state dead_config dead_consumers"
                        + " dead_waiters dead_index source order ready nothing queues")
                .split(" "));
        // Gives one of KEYS, and parameters that get nothing else.
        Set<String> indirect = Set.of("queue_delayed_set", "set", "waiters");
        for (String name : set.files()) {
            String code = code(name).replaceAll("=\\n\\s*", "= ");
            Matcher indexes =
                    Pattern.compile("(?<!function )\\bindex_find\\(([^,)]*)").matcher(code);
            while (indexes.find()) {
                assertThat(indexes.group(1)).as(name + ": " + indexes.group()).isIn("index", "dead_index");
            }
            Matcher rooms = Pattern.compile("(?<!function )\\bwakeup_(cover|counted|promises|write)\\(([^,)]*)")
                    .matcher(code);
            while (rooms.find()) {
                assertThat(rooms.group(2))
                        .as(name + ": " + rooms.group())
                        .isIn("waiters", "wakeup_waiters", "dead_waiters");
            }
            Matcher given = Pattern.compile(
                            "(?<!function )\\b(count|look_into|page_begin|none_in|note_used)\\(([^,)]*)")
                    .matcher(code);
            while (given.find()) {
                assertThat(given.group(2))
                        .as(name + ": " + given.group())
                        .isIn(
                                "set",
                                "source",
                                "seen_key",
                                "queue_delayed",
                                "queue_leased",
                                "queue_delayed_set(queue_priorities[i]");
            }
            Matcher call = Pattern.compile("redis\\.p?call\\('(\\w+)'(?:,\\s*([\\w\\[\\]]+))?")
                    .matcher(code);
            int calls = 0;
            while (call.find()) {
                calls++;
                if (Set.of("TIME", "PUBLISH", "INFO").contains(call.group(1))) {
                    continue;
                }
                assertThat(call.group(2))
                        .as(name + ": " + call.group())
                        .satisfiesAnyOf(
                                key -> assertThat(names).contains(key),
                                key -> assertThat(indirect).contains(key),
                                key -> assertThat(key).matches("KEYS\\[(\\d+|i)]"));
            }
            assertThat(calls)
                    .as("calls understood in " + name)
                    .isEqualTo(count(code, "redis.call") + count(code, "redis.pcall"));
            // Each of these names stands for one of KEYS, and for nothing else.
            Matcher assigned = Pattern.compile("(?m)^\\s*(?:local )?([\\w, ]+?) = ([^\\n]*)$")
                    .matcher(code);
            while (assigned.find()) {
                List<String> left = List.of(assigned.group(1).split(", "));
                String[] right = assigned.group(2).split(", ");
                for (int i = 0; i < left.size(); i++) {
                    if (names.contains(left.get(i))) {
                        assertThat(right[i]).as(name + ": " + assigned.group()).matches("KEYS\\[\\d+]");
                    }
                }
            }
        }
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }

    @Test
    void should_unpack_only_tables_that_are_bounded() {
        for (String name : set.files()) {
            Matcher unpack =
                    Pattern.compile("(?<!struct\\.)unpack\\(([^)]*)\\)").matcher(code(name));
            while (unpack.find()) {
                Set<String> bounded =
                        switch (name) {
                            // 256, 2 * 256 and 11 * 256: ScriptKeysIT.
                            case "command/claim.lua" ->
                                Set.of("ids", "leases", "fields", "lengths", "dropped", "due, d, last"); // 64
                            case "include/seen.lua" -> Set.of("old"); // 100
                            case "command/replication.lua" -> Set.of("answers"); // two values for each of 256
                            // 256, and two or three values for each of 256.
                            case "command/schedule.lua" -> Set.of("items", "ids", "scores", "fields", "answers"); // 5
                            case "command/acknowledge.lua" -> Set.of("ids", "finished", "answers");
                            case "command/settle.lua" ->
                                Set.of("items", "ids", "extended", "kept", "gone", "remembered", "answers"); // 5
                            case "include/wakeup.lua" -> Set.of("promises"); // 2 * (2 + 4 * 16)
                            case "include/plain.lua" -> Set.of("promises", "ids", "scores", "bytes", "answers");
                            case "include/items.lua" -> Set.of("arguments, last + 1, last + count"); // 256
                            case "command/trim.lua" -> Set.of("ids"); // 100
                            case "command/register.lua" -> Set.of("oldest"); // 100
                            case "include/index.lua" -> Set.of("members"); // 256 of settle.lua
                            case "command/outlook.lua" -> Set.of("counts"); // 242
                            case "command/repair.lua" -> Set.of("ids", "members", "lost"); // 256
                            // 256, and two values or elements for each of 256.
                            case "import.lua" ->
                                Set.of("ids", "elements", "heads", "fields", "moved", "dues", "pending", "answers");
                            default -> Set.of();
                        };
                assertThat(bounded).as(name).contains(unpack.group(1));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void should_say_on_top_of_each_script_what_it_takes_answers_and_costs(LuaScript script) {
        String source = file(set.fileOf(script));
        String head = source.substring(0, source.indexOf("\n\n"));
        assertThat(head.lines()).allMatch(line -> line.startsWith("--"));
        assertThat(head).contains("-- KEYS ", "-- Reply", "-- Errors ", "-- Cost ");
        if (set.traits(script).contains(ScriptSet.Trait.CHANGES)) {
            assertThat(head).contains("-- ARGV ");
        }
        String keyLines = head.substring(head.indexOf("-- KEYS"));
        keyLines = keyLines.substring(0, keyLines.indexOf(keyLines.contains("-- ARGV") ? "-- ARGV" : "-- Reply"));
        String common = "1 to 17 see queue.lua";
        int last = keyLines.contains(common) ? 17 : 0;
        Matcher number = Pattern.compile("(\\d+)  ?\\w").matcher(keyLines.replace(common, ""));
        while (number.find()) {
            assertThat(Integer.parseInt(number.group(1))).isEqualTo(++last);
        }
        assertThat(set.keys("p", "q").of(script)).as("KEYS of " + script).hasSize(last);
    }
}
