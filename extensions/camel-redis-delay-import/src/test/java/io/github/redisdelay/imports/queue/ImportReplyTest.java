// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ImportReplyTest {

    @Test
    void should_number_outcomes_as_the_script_and_its_header_do() {
        String script = ImportScripts.IMPORT.source();
        List<String> numbered = Pattern.compile("(?m)^-- +(\\d [A-Z_]+)\\b")
                .matcher(script)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(numbered)
                .containsExactlyElementsOf(Arrays.stream(ImportReply.values())
                        .map(reply -> (reply.ordinal() + 1) + " " + reply)
                        .toList())
                .allSatisfy(
                        line -> assertThat(ImportReply.of(line.charAt(0) - '0')).hasToString(line.substring(2)));
        String names = Arrays.stream(ImportReply.values()).map(Enum::name).collect(Collectors.joining(", "));
        assertThat(script).contains("local " + names + " = 1, 2, 3, 4, 5\n");
        for (int outcome : List.of(0, 6)) {
            assertThatThrownBy(() -> ImportReply.of(outcome)).hasMessage("script IMPORT answered " + outcome);
        }
    }
}
