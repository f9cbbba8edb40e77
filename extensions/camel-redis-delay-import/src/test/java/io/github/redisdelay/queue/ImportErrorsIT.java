// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Imports that are refused, or fail on their way. */
class ImportErrorsIT extends OldQueueIT {

    @Test
    void should_refuse_a_client_that_cannot_name_the_keys() throws Exception {
        RedissonClient redisson = MappedNames.connect(redis.address(), "app:");
        try (DelayQueueClient mapped = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            queue = mapped.queue("orders");
            assertThatThrownBy(() -> importAll(BY_TEXT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("queue 'orders': cannot import from Redisson's queue '" + old.name
                            + "': the Redisson client has a NameMapper, which makes 'app:" + old.pendingKey
                            + "' of the key '" + old.pendingKey
                            + "': use a client without one, and the names in Redis");
        } finally {
            redisson.shutdown();
        }
    }

    @Test
    void should_fail_where_replicas_are_asked_for_and_missing() {
        old.ready("r");
        ClientOptions options = ClientOptions.DEFAULTS
                .withRequestTimeout(Duration.ofSeconds(10))
                .withDurability(new Durability(99, false, Duration.ofMillis(10)));
        try (DelayQueueClient durable = DelayQueueClient.create(redis.client(), options)) {
            DelayQueue same = durable.queue(queue.name());
            assertThatThrownBy(() -> get(RedissonImport.into(same)
                            .run(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING)))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("message 'r' is stored");
        }
        assertThat(dues()).containsOnlyKeys("r");
    }

    @Test
    void should_fail_as_those_do_whom_it_asks() {
        IntStream.range(0, 100).forEach(i -> old.offer("m" + i, FAR + i));
        assertThatThrownBy(() -> get(start(BY_TEXT, ImportOptions.EVERYTHING.withGoOn(report -> {
                    throw new IllegalStateException("the listener's");
                }))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the listener's");
        assertThat(dues()).hasSize(64);
        assertThatThrownBy(() -> get(start(BY_TEXT, ImportOptions.EVERYTHING.withExecutor(task -> {
                    throw new RejectedExecutionException("full");
                }))))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(importAll(BY_TEXT).moved()).isEqualTo(36);
    }

    @Test
    void should_refuse_dead_letters_and_a_closed_client() {
        old.ready("r");
        assertThatThrownBy(() -> RedissonImport.into(queue.deadLetters())
                        .run(new ImportSource(old.name), BY_TEXT, ImportOptions.EVERYTHING))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("an import is a call to the queue");
        assertThatThrownBy(() -> new ImportSource(" ")).hasMessageContaining("1 to 512");
        client.close();
        assertThatThrownBy(() -> importAll(BY_TEXT))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("closed");
        assertThat(old.size()).isOne();
    }

    @Test
    void should_tell_of_a_key_of_another_kind_and_change_nothing() {
        redis.client().getBucket(old.name, StringCodec.INSTANCE).set("somebody's");
        old.offer("m", FAR);
        assertThatThrownBy(() -> importAll(BY_TEXT))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("WRONGTYPE");
        assertThat(old.pending().size()).isOne();
        assertThat(dues()).isEmpty();
    }
}
