// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps the component small: its Java and Lua, and those of each jar of this project that it needs, without comments and blank
 * lines.
 *
 * <p>To change a limit: a new capability raises it by the number that its issue names, in the commit that brings it. Nothing
 * else raises one. Whoever takes code away lowers it, to the next hundred lines or thousand characters.
 */
class BudgetTest {

    private static final Size JAVA = new Size(18_233, 627_660);
    private static final Size LUA = new Size(2_383, 93_266);
    private static final int CLASS_LINES = 300;

    /** Classes with a limit of their own. The first has Camel's form: a field and two methods for each option. */
    private static final Map<String, Integer> LARGER_CLASSES = Map.of("RedisDelayConfiguration", 532);

    private static final Pattern JAVA_COMMENT = Pattern.compile("(?s:/\\*.*?\\*/)|(?m)^\\s*//.*$");
    private static final Pattern LUA_COMMENT = Pattern.compile("(?m)^\\s*--.*$");
    private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
    private static final Path PROJECT = Path.of("..");

    /** Lines, and characters without indentation. */
    private record Size(int lines, int characters) {

        private static final Size NOTHING = new Size(0, 0);

        static Size of(String code) {
            List<String> lines = code.lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
            return new Size(
                    lines.size(), lines.stream().mapToInt(String::length).sum());
        }

        Size plus(Size other) {
            return new Size(lines + other.lines, characters + other.characters);
        }
    }

    @Test
    void should_stay_within_the_budget() throws IOException {
        Size java = sum(sizes("java", ".java", JAVA_COMMENT));
        Size lua = sum(sizes("resources", ".lua", LUA_COMMENT));

        assertThat(java.lines).as("lines of Java").isBetween(1_000, JAVA.lines);
        assertThat(java.characters).as("characters of Java").isLessThanOrEqualTo(JAVA.characters);
        assertThat(lua.lines).as("lines of Lua").isBetween(100, LUA.lines);
        assertThat(lua.characters).as("characters of Lua").isLessThanOrEqualTo(LUA.characters);
    }

    @Test
    void should_have_no_class_that_is_too_large() throws IOException {
        Map<String, Size> tooLarge = sizes("java", ".java", JAVA_COMMENT);
        tooLarge.entrySet()
                .removeIf(each -> each.getValue().lines <= LARGER_CLASSES.getOrDefault(each.getKey(), CLASS_LINES));
        assertThat(tooLarge).as("classes of more lines than they may have").isEmpty();
    }

    @Test
    void should_count_neither_comments_nor_blank_lines_nor_indentation() {
        String code = "/** A\n * comment. */\nclass A {\n\n    // One more.\n    int b; // behind code\n}\n";
        assertThat(Size.of(JAVA_COMMENT.matcher(code).replaceAll(""))).isEqualTo(new Size(3, 31));
    }

    private static Size sum(Map<String, Size> sizes) {
        return sizes.values().stream().reduce(Size.NOTHING, Size::plus);
    }

    /** The size of each file, by its name without the ending. */
    private static Map<String, Size> sizes(String folder, String ending, Pattern comment) throws IOException {
        Map<String, Size> sizes = new TreeMap<>();
        for (Path module : modules()) {
            Path root = module.resolve("src/main").resolve(folder);
            if (!Files.exists(root)) {
                continue;
            }
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(ending)).toList()) {
                    String name = file.getFileName().toString().replace(ending, "");
                    Size size = Size.of(comment.matcher(Files.readString(file)).replaceAll(""));
                    sizes.merge(name, size, Size::plus);
                }
            }
        }
        return sizes;
    }

    /** The component, and the modules of this project that it is not there without. */
    private static List<Path> modules() throws IOException {
        List<Path> modules = new ArrayList<>(List.of(Path.of(".")));
        DEPENDENCY
                .matcher(Files.readString(Path.of("pom.xml")))
                .results()
                .map(match -> match.group(1))
                .filter(dependency -> dependency.contains("<groupId>io.github.redisdelay</groupId>"))
                .filter(dependency -> !dependency.contains("<scope>test</scope>"))
                .map(dependency -> dependency.replaceAll("(?s).*<artifactId>(.*?)</artifactId>.*", "$1"))
                .forEach(artifact -> modules.add(Stream.of("", "extensions", "verification")
                        .map(place -> PROJECT.resolve(place).resolve(artifact))
                        .filter(Files::isDirectory)
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no folder of " + artifact))));
        return modules;
    }
}
