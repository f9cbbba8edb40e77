// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.ImportCodec;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.test.RedisExtension;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RDelayedQueue;
import org.redisson.codec.Kryo5Codec;

/** The class that the guide shows to those without Camel. */
class DelayedTextsIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private String name;
    private DelayedTexts texts;

    @BeforeEach
    void open() {
        name = redis.uniqueQueue();
        texts = new DelayedTexts(redis.client(), name);
    }

    @AfterEach
    void close() {
        texts.close();
    }

    @Test
    void should_do_what_applications_do_with_a_delayed_queue() throws Exception {
        texts.offer("later", 30, TimeUnit.MINUTES);
        texts.offer("later", 31, TimeUnit.MINUTES);
        texts.offer("now", 0, TimeUnit.MILLISECONDS);
        assertThat(texts.size()).isEqualTo(2);
        assertThat(texts.contains("later")).isTrue();

        Delivery first = texts.take();
        assertThat(DelayedTexts.text(first)).isEqualTo("now");
        first.settle(new Settlement.Retry(Duration.ZERO, new byte[0])).result().join();
        Delivery second = texts.take();
        assertThat(second.attempt()).isEqualTo(2);
        second.settle(Settlement.ACKNOWLEDGE).result().join();

        assertThat(texts.poll(Duration.ZERO)).isNull();
        assertThat(texts.remove("later")).isTrue();
        assertThat(texts.remove("later")).isFalse();
        assertThat(texts.contains("later")).isFalse();
        assertThat(texts.size()).isZero();
    }

    @Test
    void should_take_over_what_Redisson_has() {
        RDelayedQueue<Object> old =
                redis.client().getDelayedQueue(redis.client().getBlockingQueue(name, new Kryo5Codec()));
        old.offer("A-1", 30, TimeUnit.MINUTES);
        old.destroy();

        assertThat(texts.importFrom(name, ImportCodec.KRYO5).moved()).isOne();
        assertThat(texts.remove("A-1")).isTrue();
    }
}
