// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScheduleRequestTest {

    private static DuplicatePolicy policy(String id, DuplicatePolicy wanted) {
        return ScheduleRequest.of(id, new byte[0], DueTime.now())
                .withOnDuplicate(wanted)
                .onDuplicate();
    }

    @ParameterizedTest
    @EnumSource
    void should_never_lose_a_message_whose_generated_id_is_in_use(DuplicatePolicy wanted) {
        assertThat(policy(null, wanted)).isEqualTo(DuplicatePolicy.REJECT);
        assertThat(policy("order-1", wanted)).isEqualTo(wanted);
    }
}
