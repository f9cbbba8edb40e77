// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each module, profile, main class and test exists that a command of a page or of {@code .ci/run} names. */
class CommandsTest {

    /** A command: in a line of its own, or between backticks. */
    private static final Pattern COMMAND =
            Pattern.compile("(?<=^|[`\\s=])mvn ((?:(?!\\s#)[^`\\n\\\\]|\\\\\\n)+)", Pattern.MULTILINE);
    /** The rest of a command, where a table has it without its beginning. */
    private static final Pattern TESTS = Pattern.compile("-D(?:it\\.)?test=(?:'([^']+)'|([^\\s`'\"]+))");
    /** A test, by its name alone. */
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*[a-z](?:Test|IT|Bench))(?:#\\w+)?`");

    private static ShellCheck check;

    @BeforeAll
    static void read() throws IOException {
        check = new ShellCheck(new Sources(Block.ROOT));
    }

    static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(Block.ROOT.resolve(".ci/run")));
        pages.addAll(Block.pages());
        return pages;
    }

    @Test
    void should_read_all_pages_that_have_commands() throws IOException {
        List<String> names = new ArrayList<>();
        for (Path page : pages()) {
            if (COMMAND.matcher(Files.readString(page)).find()) {
                names.add(Block.ROOT.relativize(page).toString());
            }
        }
        assertThat(names)
                .contains(
                        ".ci/run",
                        "README.md",
                        "CONTRIBUTING.md",
                        "docs/performance.md",
                        "docs/reliability.md",
                        "verification/camel-redis-delay-benchmark/README.md");
    }

    /** Whoever wants to try it, to test it, or to use it finds the command on the first page. */
    @ParameterizedTest
    @ValueSource(strings = {"README.md", "README.zh-CN.md"})
    void should_show_in_the_readme_how_to_run_test_and_install_it(String readme) throws IOException {
        assertThat(Block.of(readme, Files.readAllLines(Block.ROOT.resolve(readme))))
                .filteredOn(block -> block.language().equals("sh"))
                .flatExtracting(block -> block.code().lines().toList())
                .extracting(line -> line.replaceFirst("\\s+# .*", ""))
                .contains(
                        "mvn -q -pl camel-redis-delay-example -am process-classes exec:java",
                        "mvn -B -ntp -T2 verify",
                        "mvn -B -ntp -DskipTests -pl :camel-redis-delay-spring-boot-starter -am install");
        assertThat(Files.readString(Block.ROOT.resolve(readme)))
                .contains("<artifactId>camel-redis-delay</artifactId>")
                .containsPattern("verify +# (about eight minutes|双核机器上大约八分钟)");
        assertThat(Files.readString(Block.ROOT.resolve("CONTRIBUTING.md")))
                .contains("`mvn -B -ntp -T2 verify` | about eight minutes |");
    }

    @ParameterizedTest
    @MethodSource("pages")
    void should_name_only_what_exists(Path page) throws IOException {
        checkAll(page.toString(), Files.readString(page));
    }

    private static void checkAll(String page, String text) {
        COMMAND.matcher(text).results().forEach(match -> {
            String command = match.group(1).replace("\\\n", " ").replaceAll("\\$args|\"\\$(@|\\{browsers\\[@]})\"", "");
            check.maven(page + ": mvn " + command, "mvn " + command);
        });
        TESTS.matcher(text)
                .results()
                .forEach(match -> check.tests(page, match.group(1) == null ? match.group(2) : match.group(1)));
        TEST.matcher(text).results().forEach(match -> check.assertClass(page, match.group(1)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            mvn -pl camel-redis-delays verify
            mvn -pl camel-redis-delay-benchmark -Pbenchmark verify
            mvn -pl :camel-redis-delays verify
            mvn -pl :camel-redis-delay-faults -am verify
            mvn -Pfault verify
            exec mvn -B -ntp $args -Pfaults,longer verify
            mvn test -Dtest=RouteShapeIT
            mvn test -Dtest='PagesIT,RouteShaped*IT'
            mvn test -Dtest=CommandsTest#should_not
            the rest of it: `-Dtest=RouteShapeIT`
            a test (`RouteShapesTest`)
            mvn exec:java -Dexec.mainClass=io.github.redisdelay.example.ExampleApplications
            mvn testen
            """)
    void should_notice_what_does_not_exist(String text) {
        assertThatThrownBy(() -> checkAll("a page", text)).isInstanceOf(AssertionError.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            mvn -pl camel-redis-delay verify
            mvn -pl :camel-redis-delay-faults -am verify -Pfaults
            mvn test -Dtest=CommandsTest#should_notice*
            the rest of it: `-Dtest='PagesIT,Command*Test' -Dfuzz.inputs=1`
            a test (`CommandsTest`)
            mvn exec:java -Dexec.mainClass=io.github.redisdelay.example.ExampleApplication
            """)
    void should_let_pass_what_exists(String text) {
        checkAll("a page", text);
    }
}
