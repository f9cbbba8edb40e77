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
import java.util.stream.Collectors;
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
    void should_include_on_top_or_at_the_beginning_of_a_branch(LuaScript script) {
        String rest = TOP.matcher(file(set.fileOf(script))).replaceFirst("");
        // Most calls do not need such functions.
        assertThat(rest.replaceAll("then\n(--@include \\S+\n)+", "")).doesNotContain("--@include");
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
            "ARGV[1]", // the name of a session
            "ARGV[i]", // a bound of an outlook as it came
            "ARGV[8]", // a body
            "needs",
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
            "failure", // bytes of the client's
            "head", // made by struct.pack, as are the next
            "give_brief",
            "id_lengths",
            "time",
            "digits",
            "cursor",
            "number", // a position, or nothing
            "length", // a small number
            "partitions", // a text already, as are the next
            "last",
            "line", // of a record before its failure, of which the next ones are parts
            "count",
            "letter",
            "past",
            "run_time",
            "rule",
            "group",
            "prefix",
            "kind",
            "behind",
            "feature",
            "queue_needs",
            "r.group",
            "record_run",
            "record.failure",
            "record.group",
            "MEMBER_PLACE",
            "action",
            "place",
            "MEMBER_PARKED",
            "its_group",
            "kept",
            "order",
            "all[i]",
            "changed",
            "began",
            "own",
            "from",
            "to",
            "found[i]",
            "found[SLICE]",
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
                            "(string\\.format|string\\.rep|struct\\.pack|string\\.sub|string\\.reverse|math\\.max)\\([^()]*\\)",
                            "''");
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
    void should_touch_no_key_but_by_its_name() {
        // Gives one of the priorities' keys, and parameters that get nothing else.
        Set<String> indirect = Set.of(
                "queue_delayed_set", "queue_parked", "queue_index", "set", "waiters", "index", "leased", "state");
        Pattern given =
                Pattern.compile("(?<!function )\\b(count|look_into|page_begin|note_used|index_forget|record_is_held"
                        + "|wakeup_(?:cover|counted|promises|write))\\(([^,)]*)");
        for (String name : set.files()) {
            String code = code(name);
            // Nothing else gets such a name.
            assertThat(code).as(name).doesNotContainPattern("(?m)^ *(local )?[\\w, ]*\\bkey_\\w+[\\w, ]* = ");
            assertThat(code).as(name).doesNotContainPattern("function[ \\w]*\\([^)]*\\bkey_");
            Matcher keys = given.matcher(code);
            while (keys.find()) {
                assertThat(keys.group(2))
                        .as(name + ": " + keys.group())
                        .matches("key_\\w+|wakeup_waiters|set|waiters|index|queue_delayed_set\\(queue_priorities\\[i]");
            }
            Matcher call = Pattern.compile("redis\\.p?call\\('(\\w+)'(?:,\\s*([\\w\\[\\]]+))?")
                    .matcher(code);
            int calls = 0;
            while (call.find()) {
                calls++;
                if (!Set.of("TIME", "PUBLISH", "INFO").contains(call.group(1))) {
                    assertThat(call.group(2))
                            .as(name + ": " + call.group())
                            .satisfiesAnyOf(
                                    key -> assertThat(key).matches("key_\\w+|KEYS\\[i]|wakeup_waiters"),
                                    key -> assertThat(indirect).contains(key));
                }
            }
            assertThat(calls)
                    .as("calls understood in " + name)
                    .isEqualTo(count(code, "redis.call") + count(code, "redis.pcall"));
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void should_name_the_keys_that_a_script_uses_and_no_others(LuaScript script) {
        String text = script.source().replaceAll("--[^\\n]*", "");
        Set<String> used = Pattern.compile("\\bkey_\\w+")
                .matcher(text.substring(text.indexOf('\n')))
                .results()
                .map(name -> name.group())
                .collect(Collectors.toSet());
        Set<String> named = script.keyNames().stream()
                .map(name -> "key_" + name.replace(':', '_'))
                .collect(Collectors.toSet());
        assertThat(named).containsAll(used);
        if (set.traits(script).contains(ScriptSet.Trait.CHANGES)) {
            assertThat(used).containsAll(named);
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
                            case "command/claim.lua" -> Set.of("lengths", "bodies", "members");
                            case "include/give.lua" ->
                                Set.of("ids", "scores", "fields", "dropped", "give_due, give_next, last"); // 64
                            case "include/seen.lua" ->
                                Set.of("old", "remembered"); // 100, and two values for each of 256
                            case "command/replication.lua" -> Set.of("answers"); // two values for each of 256
                            // 256, and two or three values for each of 256.
                            case "command/schedule.lua" -> Set.of("items_columns"); // 5
                            case "command/change.lua" -> Set.of("items_columns"); // 3
                            case "command/acknowledge.lua" -> Set.of("ids", "finished", "answers");
                            case "command/settle.lua" ->
                                Set.of(
                                        "items_columns",
                                        "ids",
                                        "extended",
                                        "kept",
                                        "set",
                                        "fields",
                                        "gone",
                                        "left",
                                        "remembered",
                                        "answers"); // 5
                            // 256, and two values for each.
                            case "include/group.lua" ->
                                Set.of(
                                        "ids",
                                        "members",
                                        "added",
                                        "set",
                                        "moved",
                                        "moves[1], i, to",
                                        "moves[2], i, to",
                                        "first, 1, n",
                                        "last, 1, n",
                                        "group_members(group, id");
                            case "include/gate.lua" -> Set.of("ids", "range"); // 256, 2
                            case "include/wakeup.lua" -> Set.of("promises"); // 2 * (2 + 4 * 16)
                            case "include/plain.lua" -> Set.of("promises", "ids", "scores", "fields", "answers");
                            case "include/cancel.lua" -> Set.of("ids"); // 256
                            case "include/packed.lua" -> Set.of("arguments, last + 1, last + count"); // 256
                            case "command/register.lua" -> Set.of("oldest"); // 100
                            case "include/index.lua" -> Set.of("members"); // 256 of settle.lua
                            case "command/outlook.lua" -> Set.of("counts"); // 242
                            case "command/repair.lua" ->
                                Set.of("ids", "members", "lost", "all, from, math.min(from + SLICE - 1, #all"); // 256
                            // 256, and two values or elements for each of 256.
                            case "import.lua" ->
                                Set.of("items_columns", "ids", "elements", "heads", "pending", "answers");
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
        // Words in brackets say what a key is.
        String[] parts = keyLines.substring("-- KEYS".length())
                .replaceAll("\n--", "")
                .replaceAll("\\([^()]*\\)", "")
                .replaceFirst(":\\s[^:]*$", "")
                .split(";");
        assertThat(parts[0].trim().split("\\s*,\\s*")).containsExactlyElementsOf(script.keyNames());
        assertThat(parts.length == 2 && parts[1].trim().startsWith("priorities"))
                .isEqualTo(script.usesPriorities());
    }
}
