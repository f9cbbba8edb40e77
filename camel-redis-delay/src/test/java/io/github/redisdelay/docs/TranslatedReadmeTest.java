// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The README, and each page that is translated, says the same in each language, as far as that can be seen without reading
 * it: code, commands, names, figures and links. Its sentences and their order may differ.
 */
class TranslatedReadmeTest {

    private static final String ENGLISH = "README.md";
    private static final String CHINESE = "README.zh-CN.md";
    private static final String TRANSLATION = ".zh-CN.md";

    /** The sections of a page that is translated in part. */
    private static final Map<String, List<String>> TRANSLATED = Map.of(
            "docs/migration.md",
            List.of(
                    "## What you need",
                    "### A job pool with buckets and ready lists",
                    "## The plan",
                    "## The way back"));

    /** For readers of Chinese alone. */
    private static final Pattern CHINESE_ONLY = Pattern.compile("(?ms)^## 你可能在找$.*?(?=^## )");

    /** A text for readers begins here: a comment of a program, a comment of a shell, a label of a picture. */
    private static final Pattern FOR_READERS =
            Pattern.compile("(?m)(?:^|\\s+)(?://|#) .*$|(?<= --> \\S{1,20}|>>\\w): .*$");

    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern TARGET = Pattern.compile("(?<=]\\()[^)#]+");
    private static final Pattern LINK_END = Pattern.compile("]\\([^)]+\\)");
    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");
    /** Such as {@code redeliveryDelay}, also where no backticks stand around it. */
    private static final Pattern NAME = Pattern.compile("(?<![\\w-])\\w*\\p{javaLowerCase}\\p{Upper}\\w*");

    private static final Pattern NUMBER = Pattern.compile("\\d+(?:[.:]\\d+)*");

    static List<String> translated() throws IOException {
        return Block.pages().stream()
                .map(page -> Block.ROOT.relativize(page).toString())
                .filter(page -> page.endsWith(TRANSLATION))
                .map(page -> page.replace(TRANSLATION, ".md"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("translated")
    void should_say_the_same_in_both_languages(String page) throws IOException {
        String english = read(page);
        String translated = TRANSLATED.containsKey(page)
                ? TRANSLATED.get(page).stream()
                        .map(heading -> section(english, heading))
                        .collect(Collectors.joining())
                : english;
        compare(translated, read(translation(page)));
    }

    @ParameterizedTest
    @MethodSource("translated")
    void should_link_each_language_to_the_other(String page) throws IOException {
        String name = page.replaceAll(".*/", "");
        assertThat(read(page).lines().limit(5)).contains("English | [简体中文](" + translation(name) + ")");
        assertThat(read(translation(page)).lines().limit(5)).contains("[English](" + name + ") | 简体中文");
    }

    private static String section(String page, String heading) {
        int level = heading.indexOf(' ');
        return Pattern.compile("(?ms)^" + heading + "$.*?(?=^#{2," + level + "} )")
                .matcher(page)
                .results()
                .findFirst()
                .orElseThrow(() -> new AssertionError("no section " + heading))
                .group();
    }

    private static String translation(String page) {
        return page.replace(".md", TRANSLATION);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            delay=30m                   | delay=31m
            <dependency>                | <dependency >
            timeout=1m                  | timeout=2m
            mvn -q -pl                  | mvn -pl
            delayed --> gone            | delayed --> dead
            redeliveryDelay             | redeliveryDelays
            `waitForDisk`               | `waitForDisks`
            `getDelayedQueue`           | getDelayedQueue()
            mvn -B -ntp -T2 verify      | mvn verify
            10 000/s                    | 11 000/s
            4.22                        | 4.23
            30 s                        | 31 s
            (docs/guarantees.md)        | (docs/guarantees)
            RocketMQ                    | ActiveMQ
            """)
    void should_notice_a_change_of_one_language(String text, String changed) throws IOException {
        String chinese = read(CHINESE);
        assertThat(chinese).contains(text);
        String other = chinese.replace(text, changed);
        assertThatThrownBy(() -> compare(read(ENGLISH), other)).isInstanceOf(AssertionError.class);
    }

    private static String read(String page) throws IOException {
        return Files.readString(Block.ROOT.resolve(page));
    }

    private static void compare(String english, String translation) {
        String chinese = CHINESE_ONLY.matcher(translation).replaceAll("");
        assertThat(code(chinese)).as("blocks of code").isEqualTo(code(english));
        String one = FENCED.matcher(english).replaceAll("");
        String other = FENCED.matcher(chinese).replaceAll("");
        assertThat(all(CODE, other)).as("code between backticks").hasSameElementsAs(all(CODE, one));
        assertThat(all(NAME, chinese)).as("names").hasSameElementsAs(all(NAME, english));
        assertThat(links(other)).as("links").hasSameElementsAs(links(one));
        assertThat(tables(other)).as("numbers of each table").containsExactlyInAnyOrderElementsOf(tables(one));
        assertThat(numbers(other)).as("numbers").hasSameElementsAs(numbers(one));
    }

    private static List<String> code(String page) {
        return Block.of("README", page.lines().toList()).stream()
                .map(block -> block.language() + "\n"
                        + FOR_READERS.matcher(block.code()).replaceAll(""))
                .toList();
    }

    private static List<String> links(String text) {
        return all(TARGET, text).stream()
                .map(link -> link.replace(TRANSLATION, ".md"))
                .filter(link -> !link.equals("migration.md")) // from one of its sections to another one
                .toList();
    }

    /** The numbers of each table that has some, in their order. */
    private static List<List<String>> tables(String text) {
        return all(Pattern.compile("(?m)(?:^\\|.*\\R)+"), text).stream()
                .map(TranslatedReadmeTest::numbers)
                .filter(numbers -> !numbers.isEmpty())
                .toList();
    }

    private static List<String> numbers(String text) {
        return all(NUMBER, LINK_END.matcher(text).replaceAll("]"));
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group).toList();
    }
}
