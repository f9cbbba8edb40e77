// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules for arguments: what is wrong is refused, and nothing is changed. */
public abstract class ScriptArgumentRules extends ScriptRules {

    ScriptArgumentRules(ScriptSet set) {
        super(set);
    }

    /** Asserts what a script refuses besides what is no number. */
    void refuseMore(LuaScript script) {}

    @ParameterizedTest
    @MethodSource("changing")
    void should_execute_the_valid_call_that_these_tests_are_made_of(LuaScript script) {
        prepare(script);
        Map<String, String> before = dump();
        call(script, valid(script));
        assertThat(dump()).isNotEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("withNumbers")
    void should_refuse_what_is_not_a_whole_number_within_bounds(LuaScript script) {
        List<String> bad = List.of(
                "",
                " ",
                "x",
                "1x",
                "nan",
                "NaN",
                "-nan",
                "inf",
                "-inf",
                "1e400",
                "-1",
                "1.5",
                "0.000001",
                "9007199254740992",
                "9007199254740993",
                "1e16",
                "18446744073709551616");
        ScriptCall valid = named(script);
        for (int position : valid.numbers()) {
            for (String value : bad) {
                assertRefused(
                        script,
                        valid.at(position, value),
                        script + " with '" + value + "' as " + valid.nameAt(position) + " at " + position);
            }
        }
        refuseMore(script);
    }

    @ParameterizedTest
    @MethodSource("withArguments")
    void should_refuse_missing_arguments(LuaScript script) {
        Object[] valid = valid(script);
        int head = named(script).head();
        int width = named(script).width();
        for (int length = 0; length < valid.length; length++) {
            if (width > 0 && length > head && (length - head) % width == 0) {
                continue; // fewer items, all whole
            }
            assertRefused(script, Arrays.copyOf(valid, length), script + " with " + length + " arguments");
        }
    }

    @ParameterizedTest
    @MethodSource("withItems")
    void should_refuse_no_items_and_more_than_256(LuaScript script) {
        Object[] valid = valid(script);
        int head = named(script).head();
        int width = named(script).width();
        assertRefused(script, Arrays.copyOf(valid, head), script + " of nothing");
        for (int count : new int[] {257, 1000}) {
            Object[] many = Arrays.copyOf(valid, head + count * width);
            for (int i = head + width; i < many.length; i++) {
                many[i] = many[i - width];
            }
            assertRefused(script, many, script + " of " + count);
        }
        Object[] most = Arrays.copyOf(valid, head + 256 * width);
        for (int i = head + width; i < most.length; i++) {
            most[i] = most[i - width];
        }
        assertThat((byte[]) call(script, most)).hasSize(8 + 9 * 256);
    }
}
