// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.queue.ImportOptions;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.client.codec.StringCodec;

/** An import leaves Redisson's keys right, and keeps messages in their order. */
class ImportOrderIT extends OldQueueIT {

    @Test
    void should_keep_the_order_of_one_millisecond_across_slices() {
        List<byte[]> elements = IntStream.range(0, 150)
                .mapToObj(i -> old.element(true, bytes("m" + (149 - i))))
                .toList();
        elements.forEach(element -> old.offer(element, FAR));
        List<String> before = old.pending().readAll().stream()
                .map(element -> text(element).replaceAll("(?s).*(m\\d+)$", "$1"))
                .toList();
        importAll(BY_TEXT);
        assertThat(inOrder()).isEqualTo(before);
        assertThat(dues().values()).allMatch(due -> due >= FAR * 1000 && due < (FAR + 1) * 1000);
    }

    @Test
    void should_keep_a_short_order_exact_for_those_who_still_use_it() {
        RBlockingQueue<String> list = redis.client().getBlockingQueue(old.name, StringCodec.INSTANCE);
        RDelayedQueue<String> redissons = redis.client().getDelayedQueue(list);
        List.of("a", "b", "c")
                .forEach(payload -> redissons.offer(payload, payload.equals("b") ? 1 : 2, TimeUnit.HOURS));
        get(start(BY_TEXT, ImportOptions.EVERYTHING.withAhead(Duration.ofMinutes(90))));
        assertThat(dues()).containsOnlyKeys("b");
        assertThat(redissons.readAll()).containsExactly("a", "c");
        assertThat(redissons.remove("b")).isFalse();
        assertThat(redissons.remove("a")).isTrue();
        redissons.destroy();
        assertThat(importAll(BY_TEXT).moved()).isOne();
        assertThat(dues()).containsOnlyKeys("b", "c");
    }

    @Test
    void should_drop_what_is_gone_from_the_head_of_a_long_order() {
        List<byte[]> elements = IntStream.range(0, 1500)
                .mapToObj(i -> old.element(true, bytes("m" + i)))
                .toList();
        Map<byte[], Double> scores = new IdentityHashMap<>();
        elements.forEach(element -> scores.put(element, 1000.0 * (1 + scores.size())));
        elements.stream().skip(1100).forEach(element -> scores.put(element, FAR + 0.0));
        old.pending().addAll(scores);
        old.order().addAll(elements);
        assertThat(get(start(BY_TEXT, ImportOptions.DUE)).moved()).isEqualTo(1100);
        assertThat(old.order().readAll()).usingRecursiveComparison().isEqualTo(elements.subList(1100, 1500));
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(400);
        assertThat(redis.client().getKeys().countExists(old.pendingKey, old.orderKey, old.name))
                .isZero();
        assertThat(dues()).hasSize(1500);
    }
}
