// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleCommandTest {

    private static final int SCHEDULED = 1;
    private static final int DELAYED = 4;
    private static final int FINISHED = 7;

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = "order-1")
    void should_take_what_it_finds_after_a_failover_for_itself(String id) {
        ScheduleRequest message = new ScheduleRequest(id, DueTime.now(), new byte[0], DuplicatePolicy.REJECT, null);
        ScheduleCommand command =
                new ScheduleCommand(QueueAddress.of("redis-delay", "orders"), message, id == null ? "generated" : id);
        ScheduleResult first = command.read(1, SCHEDULED, 5);
        ScheduleCommand again = command.afterFailover(first);
        assertThat(again.read(9, DELAYED, 5)).isEqualTo(first);
        assertThat(again.read(9, FINISHED, 5)).isEqualTo(first);
        assertThatThrownBy(() -> command.read(9, DELAYED, 5)).isInstanceOf(DuplicateMessageException.class);
    }
}
