// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The waits between tries. */
class BackoffTest {

    private static final long[] MILLIS = {50, 100, 200, 400, 800, 1_600, 2_000, 2_000};

    @Test
    void should_double_from_50_ms_to_2_s_with_a_quarter_of_jitter() {
        Random random = new Random(1);
        for (int failures = 1; failures <= MILLIS.length; failures++) {
            long base = MILLIS[failures - 1] * 1_000_000;
            long least = Long.MAX_VALUE;
            long most = 0;
            for (int i = 0; i < 10_000; i++) {
                long nanos = Backoff.nanos(failures, random);
                least = Math.min(least, nanos);
                most = Math.max(most, nanos);
            }
            assertThat(least).isBetween(base * 75 / 100, base * 76 / 100);
            assertThat(most).isBetween(base * 124 / 100, base * 125 / 100);
        }
    }

    @Test
    void should_stay_at_2_s_however_often_it_fails() {
        Random random = new Random(1);
        for (int failures : new int[] {9, 31, 32, 33, 63, 64, 65, 1_000_000, Integer.MAX_VALUE}) {
            assertThat(Backoff.nanos(failures, random)).isBetween(1_500_000_000L, 2_500_000_000L);
        }
    }
}
