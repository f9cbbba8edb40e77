// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.testkit.RandomTests;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Elements as the scripts of Redisson 3.12.5 to 4.7.0 pack them. */
class RedissonElementTest {

    private static byte[] element(boolean newFormat, byte[] id, long length, byte[] payload) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (newFormat) {
            bytes.write(id.length);
        }
        bytes.writeBytes(id);
        bytes.writeBytes(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(length)
                .array());
        bytes.writeBytes(payload);
        return bytes.toByteArray();
    }

    @Test
    void should_read_both_formats_whatever_the_id_is() {
        Random random = new Random(RandomTests.seed("elements.seed"));
        for (int i = 0; i < 20_000; i++) {
            boolean newFormat = random.nextBoolean();
            byte[] id = new byte[8];
            random.nextBytes(id);
            byte[] payload = new byte[random.nextInt(4) == 0 ? 300 : random.nextInt(40)];
            random.nextBytes(payload);
            if (payload.length == 1 && payload[0] == 0) {
                continue; // see should_take_an_old_element_with_the_payload_zero_for_a_new_one
            }
            RedissonElement read = RedissonElement.parse(element(newFormat, id, payload.length, payload));
            assertThat(read).isNotNull();
            assertThat(read.newFormat()).isEqualTo(newFormat);
            assertThat(read.payload()).isEqualTo(payload);
        }
    }

    @Test
    void should_take_an_old_element_with_the_payload_zero_for_a_new_one_where_its_id_looks_like_that() {
        // 08 .. 01 00 00 00 00 00 00 00 00: as a new element it has a length of 0, and nothing behind.
        byte[] id = {8, 1, 2, 3, 4, 5, 6, 7};
        byte[] element = element(false, id, 1, new byte[1]);
        assertThat(RedissonElement.parse(element).newFormat()).isTrue();
        assertThat(RedissonElement.parse(element).payload()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 9, 16, 200})
    void should_read_ids_of_another_length(int length) {
        byte[] id = new byte[length];
        RedissonElement read = RedissonElement.parse(element(true, id, 3, new byte[] {1, 2, 3}));
        assertThat(read.newFormat()).isTrue();
        assertThat(read.payload()).containsExactly(1, 2, 3);
    }

    @Test
    void should_read_nothing_else() {
        assertThat(RedissonElement.parse(new byte[0])).isNull();
        assertThat(RedissonElement.parse("just a text of somebody".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .isNull();
        byte[] id = {8, 8, 8, 8, 8, 8, 8, 8};
        for (boolean newFormat : new boolean[] {true, false}) {
            for (long length : new long[] {2, 4, -3, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32 | 3}) {
                assertThat(RedissonElement.parse(element(newFormat, id, length, new byte[] {1, 2, 3})))
                        .isNull();
            }
        }
    }
}
