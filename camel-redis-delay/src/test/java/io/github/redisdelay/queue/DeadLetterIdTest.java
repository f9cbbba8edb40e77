// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DeadLetterIdTest {

    @Test
    void should_have_the_messages_id_and_the_time() {
        DeadLetterId id = DeadLetterId.parse("order@7@1795322178485488");
        assertThat(id.messageId()).isEqualTo("order@7");
        assertThat(id.millis()).isEqualTo(1795322178485L);
        assertThat(id).hasToString("order@7@1795322178485488").isEqualTo(DeadLetterId.of("order@7", 1795322178485488L));
        assertThat(DeadLetterId.parse("a@99999999999999999999").millis()).isZero();
    }

    @Test
    void should_take_for_a_messages_what_does_not_end_with_at_and_digits() {
        for (String id : List.of("a", "", "@", "@5", "a@", "a@5x", "a@x5", "a@-5", "a@٣", "a@5 ")) {
            assertThat(DeadLetterId.parse(id)).as(id).isNull();
            assertThat(DeadLetterId.messageIdOf(id)).isEqualTo(id);
        }
    }
}
