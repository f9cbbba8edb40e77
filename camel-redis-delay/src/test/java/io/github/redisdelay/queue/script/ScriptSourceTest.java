// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.internal.command.SettleCommand;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.ScheduleReply;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The text of the scripts of the queues. */
class ScriptSourceTest extends ScriptSourceRules {

    ScriptSourceTest() {
        super(new ComponentScripts());
    }

    @Test
    void should_begin_each_name_of_an_include_with_the_name_of_its_file() {
        for (String name : ComponentScripts.INCLUDES) {
            String prefix = name.replaceAll(".*/|\\.lua", "") + "_";
            Matcher defined = Pattern.compile("(?m)^local (?:function )?(\\w+(?:, \\w+)*)")
                    .matcher(code(name));
            while (defined.find()) {
                assertThat(defined.group(1).split(", ")).as(name).allMatch(each -> each.toLowerCase(
                                java.util.Locale.ROOT)
                        .startsWith(prefix));
            }
        }
    }

    @Test
    void should_number_outcomes_as_the_header_of_the_script_does() {
        assertThat(numbered(LuaScript.SCHEDULE, 1))
                .containsExactlyElementsOf(
                        Arrays.stream(ScheduleReply.values()).map(Enum::name).toList())
                .allSatisfy(name -> assertThat(
                                ScheduleReply.of(1 + ScheduleReply.valueOf(name).ordinal()))
                        .hasToString(name));
        String names = String.join(", ", numbered(LuaScript.SCHEDULE, 1));
        assertThat(code("command/schedule.lua")).contains("local " + names + " = 1, 2, 3, 4, 5, 6, 7, 8, 9\n");
        for (int outcome : List.of(-1, 0, 10)) {
            assertThatThrownBy(() -> ScheduleReply.of(outcome)).hasMessage("script SCHEDULE answered " + outcome);
        }
    }

    /** The words that Java sends: each stands in the header and in the code of the script that takes it. */
    @Test
    void should_send_the_words_that_the_scripts_know() {
        Stream<Settlement> settlements = Stream.of(
                Settlement.ACKNOWLEDGE,
                Settlement.RELEASE,
                new Settlement.Retry(Duration.ZERO, new byte[0]),
                new Settlement.DeadLetter(new byte[0]),
                new Settlement.Drop(Duration.ZERO));
        Map<LuaScript, Stream<String>> words = Map.of(
                LuaScript.SCHEDULE, words(DuplicatePolicy.values()),
                LuaScript.CHANGE, words(ChangeAction.values()),
                LuaScript.SETTLE, Stream.concat(settlements.map(Settlement::word), Stream.of(SettleCommand.EXTEND)));
        words.forEach((script, all) -> {
            String text = file(set.fileOf(script));
            String head = text.substring(0, text.indexOf("\n\n"));
            all.forEach(word -> {
                assertThat(head).as(script.toString()).containsPattern("\\b" + word + "\\b");
                assertThat(text.substring(head.length())).as(script.toString()).containsPattern("\\b" + word + "\\b");
            });
        });
    }

    private static Stream<String> words(Enum<?>[] constants) {
        return Arrays.stream(constants).map(WireWord::text);
    }
}
