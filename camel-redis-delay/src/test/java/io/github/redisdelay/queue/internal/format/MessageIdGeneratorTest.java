// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The order and the form of generated ids. */
class MessageIdGeneratorTest {

    private long now = 1_700_000_000_000L;
    private final MessageIdGenerator ids = new MessageIdGenerator(() -> now, new Random(5));

    private static void assertGreater(String later, String earlier) {
        assertThat(Arrays.compareUnsigned(
                        later.getBytes(StandardCharsets.UTF_8), earlier.getBytes(StandardCharsets.UTF_8)))
                .as(later + " after " + earlier)
                .isPositive();
    }

    @Test
    void should_be_14_plain_characters() {
        for (int i = 0; i < 1_000; i++) {
            now += i;
            assertThat(ids.next()).matches("[-0-9A-Z_a-z]{14}");
        }
    }

    @Test
    void should_grow_within_a_second_and_from_one_to_the_next() {
        String last = ids.next();
        for (int i = 0; i < 100_000; i++) {
            if (i % 1_000 == 0) {
                now += 1_000;
            }
            String next = ids.next();
            assertGreater(next, last);
            last = next;
        }
    }

    @Test
    void should_go_on_growing_when_the_clock_steps_back() {
        String last = ids.next();
        for (int step : new int[] {-1, -3_600_000, 5, 3_599_000, 1_000_000_000}) {
            now += step;
            for (int i = 0; i < 10; i++) {
                String next = ids.next();
                assertGreater(next, last);
                last = next;
            }
        }
    }

    @Test
    void should_carry_into_the_seconds_when_the_count_is_used_up() {
        RandomGenerator highest = new RandomGenerator() {
            @Override
            public long nextLong() {
                return -1;
            }

            @Override
            public long nextLong(long bound) {
                // Beyond what is given out, so that the count ends within the test.
                return (1L << 52) - 3;
            }
        };
        MessageIdGenerator few = new MessageIdGenerator(() -> now, highest);
        String last = few.next();
        for (int i = 0; i < 10; i++) {
            String next = few.next();
            assertGreater(next, last);
            last = next;
        }
        now += 1_000;
        assertGreater(few.next(), last);
    }

    @Test
    void should_keep_the_order_of_time_up_to_its_last_second() {
        List<Long> times = List.of(1L, 63L, 64L, 4_095L, 4_096L, 1L << 30, 1_700_000_000L, (1L << 32) - 1);
        List<String> made = new ArrayList<>();
        for (long time : times) {
            made.add(new MessageIdGenerator(() -> time * 1_000, new Random(time)).next());
        }
        for (int i = 1; i < made.size(); i++) {
            assertGreater(made.get(i), made.get(i - 1));
        }
    }

    @Test
    void should_differ_between_clients_in_the_same_second() {
        Set<String> all = new HashSet<>();
        for (int client = 0; client < 1_000; client++) {
            MessageIdGenerator other = new MessageIdGenerator(() -> now, new Random(client));
            for (int i = 0; i < 20; i++) {
                assertThat(all.add(other.next())).isTrue();
            }
        }
    }

    @Test
    void should_give_each_thread_its_own() throws Exception {
        Set<String> all = ConcurrentHashMap.newKeySet();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 10_000; i++) {
                    all.add(ids.next());
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(all).hasSize(40_000);
    }
}
