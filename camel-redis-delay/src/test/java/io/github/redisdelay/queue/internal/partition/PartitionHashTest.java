// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.QueueNames;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where messages belong, and what the keys of partitions are called. Clients in other languages need the same results. */
class PartitionHashTest {

    private static int slot(String tag) {
        return ClusterSlot.crc16(0, tag.getBytes(StandardCharsets.UTF_8)) % ClusterSlot.SLOTS;
    }

    @Test
    void should_have_the_checksum_of_Redis_Cluster() {
        assertThat(slot("123456789")).isEqualTo(0x31C3);
        assertThat(slot("foo")).isEqualTo(12182);
    }

    @Test
    void should_never_change_where_messages_are() {
        assertThat(PartitionHash.of("order-4711", 3)).isEqualTo(ORDER_4711 % 3);
        assertThat(PartitionHash.of("order-4711", 64)).isEqualTo(ORDER_4711 % 64);
        assertThat(PartitionHash.of("Überweisung", 6))
                .isEqualTo(ClusterSlot.crc16(0, "Überweisung".getBytes(StandardCharsets.UTF_8)) % 6);
    }

    /** CRC16 of the bytes of {@code order-4711}, computed by another program. */
    private static final int ORDER_4711 = 0x699B;

    @Test
    void should_keep_a_dead_letter_where_its_message_was() {
        for (String id : new String[] {"a", "a@b", "a@", "@", "user@example.org", "x@5"}) {
            assertThat(PartitionHash.ofDeadLetter(id + "@1700000000000000", 64))
                    .as(id)
                    .isEqualTo(PartitionHash.of(id, 64));
        }
        // None of a dead letter, as redrive.lua reads it.
        for (String id : new String[] {"a", "a@b", "a@", "@5", "a@5b"}) {
            assertThat(PartitionHash.ofDeadLetter(id, 64)).as(id).isEqualTo(PartitionHash.of(id, 64));
        }
    }

    /** A run of a recurring schedule stays where it was when it is redriven, given up and redriven again. */
    @Test
    void should_keep_a_redriven_run_where_its_schedule_is() {
        assertThat(PartitionHash.of("order-4711@1700000000000000", 64)).isEqualTo(ORDER_4711 % 64);
        assertThat(PartitionHash.ofDeadLetter("order-4711@1700000000000000@1700000000000001", 64))
                .isEqualTo(ORDER_4711 % 64);
        // The schedule's own id may look like that.
        assertThat(PartitionHash.of("order-4711@1700000000000000@1700000000000001", 64))
                .isEqualTo(ORDER_4711 % 64);
        assertThat(PartitionHash.of("job@1", 64)).isNotEqualTo(PartitionHash.of("job@2", 64));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 6, 10, 64})
    void should_spread_ids_evenly(int partitions) {
        Random random = new Random(1);
        MessageIdGenerator generated = new MessageIdGenerator(() -> 1_700_000_000_000L, random);
        assertEven(partitions, i -> generated.next());
        assertEven(partitions, i -> "order-" + i);
        assertEven(partitions, i -> "order-" + 2 * i);
        assertEven(partitions, i -> String.valueOf(1_000_000_000L + i * 10L));
        assertEven(partitions, i -> new UUID(random.nextLong(), random.nextLong()).toString());
    }

    private static void assertEven(int partitions, IntFunction<String> ids) {
        int each = 1000;
        int[] counts = new int[partitions];
        for (int i = 0; i < each * partitions; i++) {
            counts[PartitionHash.of(ids.apply(i), partitions)]++;
        }
        assertThat(Arrays.stream(counts).min().orElseThrow())
                .as("messages of the smallest partition for ids like " + ids.apply(7))
                .isGreaterThan(each * 3 / 4);
    }

    @Test
    void should_spread_partitions_over_the_slots_of_a_cluster() {
        for (int partitions = 2; partitions <= PartitionHash.MAX; partitions++) {
            Set<String> tags = new HashSet<>();
            for (int i = 0; i < partitions; i++) {
                String tag = PartitionHash.tag("orders", i, partitions);
                tags.add(tag);
                assertThat(tag)
                        .startsWith("orders{" + i + "/" + partitions + ".")
                        .doesNotContain("}");
                assertThat(slot(tag))
                        .as(tag)
                        .isBetween(ClusterSlot.SLOTS * i / partitions, ClusterSlot.SLOTS * (i + 1) / partitions);
                // Of three nodes with the slots that redis-cli --cluster create gives them.
                if (partitions % 3 == 0) {
                    assertThat(slot(tag) / 5461).as("node of " + tag).isEqualTo(3 * i / partitions);
                }
            }
            assertThat(tags).hasSize(partitions);
        }
    }

    @Test
    void should_have_the_keys_of_the_page_which_no_queue_can_have() throws IOException {
        QueueKeys keys = QueueKeys.of("redis-delay", PartitionHash.tag("orders", 1, 3));
        assertThat(Files.readString(Path.of("../docs/protocol.md"))).contains("`" + keys.key("messages") + "`");
        String tag =
                keys.base().substring(keys.base().indexOf('{') + 1, keys.base().indexOf('}'));
        assertThatThrownBy(() -> QueueNames.check("queueName", tag)).isInstanceOf(IllegalArgumentException.class);
    }
}
