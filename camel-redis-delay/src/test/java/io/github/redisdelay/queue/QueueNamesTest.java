// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which names and ids are allowed. */
class QueueNamesTest {

    @ParameterizedTest
    @ValueSource(strings = {"orders", "a", "a:b.c-d_e/f", "Bestellungen für München", "注文", "a b", "%41", "*?[x]"})
    void should_allow_ordinary_names(String name) {
        assertThat(QueueNames.check("queueName", name)).isEqualTo(name);
        assertThat(ScheduleRequest.requireId(name, false)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\u2003", "a{b", "a}b", "{x}", "a\nb", "a\u0000", "\u007fa", "a\u0085b"})
    void should_refuse_what_would_break_a_key_and_name_it(String name) {
        assertThatThrownBy(() -> QueueNames.check("queueName", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("queueName ")
                .satisfies(e -> assertThat(e.getMessage().chars()).noneMatch(Character::isISOControl));
    }

    @Test
    void should_refuse_a_missing_name() {
        assertThatThrownBy(() -> QueueNames.check("keyPrefix", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keyPrefix is empty");
    }

    @Test
    void should_count_bytes_not_characters() {
        assertThat(QueueNames.check("queueName", "ü".repeat(100))).hasSize(100);
        assertThat(QueueNames.check("queueName", "x".repeat(200))).hasSize(200);
        assertThatThrownBy(() -> QueueNames.check("queueName", "ü".repeat(101)))
                .hasMessageContaining("has 202 bytes: at most 200");
        assertThatThrownBy(() -> QueueNames.check("queueName", "\ud83d\ude00".repeat(51)))
                .hasMessageContaining("has 204 bytes: at most 200");
    }

    @Test
    void should_refuse_half_of_a_surrogate_pair_which_would_become_the_name_of_another_queue() {
        for (String name : List.of("orders\ud83d", "\ude00orders")) {
            assertThatThrownBy(() -> QueueNames.check("queueName", name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("half of a surrogate pair");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\ud83d", "\ud83d", "\ude00a", "\ude00\ud83d", "?\ud83d?", "\ufffd\ude00"})
    void should_refuse_half_of_a_surrogate_pair_in_ids_and_groups(String text) {
        assertThatThrownBy(() -> ScheduleRequest.requireId(text, false))
                .hasMessageContaining("half of a surrogate pair");
        assertThatThrownBy(() -> ScheduleRequest.requireGroup(text)).hasMessageContaining("half of a surrogate pair");
    }

    @ParameterizedTest
    @ValueSource(strings = {"?", "\ufffd", "\ud83d\ude00", "a?\ufffdü\uffff"})
    void should_take_what_stands_for_unreadable_text_elsewhere(String id) {
        assertThat(ScheduleRequest.requireId(id, false)).isEqualTo(id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\nb", "\t", "a\u0000", "a\u0085b"})
    void should_refuse_ids_that_are_empty_or_have_control_characters(String id) {
        assertThatThrownBy(() -> ScheduleRequest.requireId(id, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("message id '")
                .satisfies(e -> assertThat(e.getMessage().chars()).noneMatch(Character::isISOControl));
    }

    @Test
    void should_refuse_ids_of_more_than_256_bytes() {
        assertThat(ScheduleRequest.checkId("x".repeat(256), ScheduleRequest.MAX_ID_BYTES))
                .hasSize(256);
        assertThat(ScheduleRequest.checkId("ü".repeat(128), ScheduleRequest.MAX_ID_BYTES))
                .hasSize(256);
        assertThatThrownBy(() -> ScheduleRequest.requireId("x".repeat(257), false))
                .hasMessageContaining("257 bytes")
                .hasMessageContaining("1 to 256 bytes");
        assertThatThrownBy(() -> ScheduleRequest.requireId("ü".repeat(129), false))
                .hasMessageContaining("258 bytes");
    }

    @Test
    void should_allow_ids_with_spaces_braces_and_slashes() {
        assertThat(ScheduleRequest.requireId("order {4711}/retry at 5", false)).isNotEmpty();
    }
}
