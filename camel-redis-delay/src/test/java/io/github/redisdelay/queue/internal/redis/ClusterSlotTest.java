// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Slots as {@code CLUSTER KEYSLOT} of Redis 7.0.15 answers them. */
class ClusterSlotTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            orders | 105
            {orders} | 105
            redisson_delay_queue:{orders} | 105
            redis-delay:{orders{0/3.0}:messages | 6047
            {app}:orders | 6805
            foo{}{bar} | 8363
            foo{{bar}}zap | 4015
            foo{bar}{zap} | 5061
            { | 4092
            }{ | 12793
            a{b | 13340
            {} | 15257
            Überweisung | 5719
            123456789 | 12739
            """)
    void should_find_the_slot_of_a_key(String key, int slot) {
        assertThat(ClusterSlot.of(key)).isEqualTo(slot);
    }
}
