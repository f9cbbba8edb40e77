// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of questions has no figures of its own: each one stands on a page that its answer links to. */
class FaqPageTest {

    private static final Path PAGE = Block.ROOT.resolve("docs/faq.md");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#]+)[^)]*\\)");
    /** Such as {@code 3.20.1}, or {@code 35 000}. */
    private static final Pattern NUMBER = Pattern.compile("\\d+(?:[. ]\\d+)*");

    static List<String> answers() throws IOException {
        return Pattern.compile("(?m)^### ")
                .splitAsStream(Files.readString(PAGE))
                .skip(1)
                .map(answer -> answer.replaceFirst("(?s)\n## .*", ""))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("answers")
    void should_have_the_figures_of_the_long_answer(String answer) {
        List<String> pages = LINK.matcher(answer)
                .results()
                .map(link -> read(PAGE.resolveSibling(link.group(1))))
                .toList();
        assertThat(pages).as("pages to read on").isNotEmpty();
        assertThat(NUMBER.matcher(LINK.matcher(answer).replaceAll("]"))
                        .results()
                        .map(MatchResult::group))
                .allSatisfy(number -> assertThat(pages)
                        .as("a page with the figure " + number)
                        .anySatisfy(page ->
                                assertThat(page).containsPattern("(?<![\\d.])" + Pattern.quote(number) + "(?!\\d)")));
    }

    @Test
    void should_read_all_answers() throws IOException {
        assertThat(answers()).hasSizeGreaterThan(40).first().asString().startsWith("Is a message lost");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "How many?\n\n17.5 a day. [Scheduling](scheduling.md)",
                "How many?\n\n285 years. [Glossary](glossary.md#x)",
                "How many?\n\nMany."
            })
    void should_notice_a_figure_of_its_own(String answer) {
        assertThatThrownBy(() -> should_have_the_figures_of_the_long_answer(answer))
                .isInstanceOf(AssertionError.class);
    }

    private static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
