// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A client that is given back last by one of its own threads, with the answer to the last acknowledgement, is not closed on that
 * thread: to close it means to wait for that thread. A context that was stopped just then did not end.
 */
class ClosingThreadTest extends CamelRedisTest {

    @Test
    void should_never_close_on_the_thread_that_gives_back() throws Exception {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        context.start();
        assertThat(threadThatCloses(component)).isNotSameAs(Thread.currentThread());
        context.stop();
        assertThat(threadThatCloses(component)).isNotSameAs(Thread.currentThread());
    }

    private static Thread threadThatCloses(RedisDelayComponent component) throws Exception {
        CompletableFuture<Thread> closing = new CompletableFuture<>();
        component.close(() -> closing.complete(Thread.currentThread()));
        return closing.get(10, TimeUnit.SECONDS);
    }
}
