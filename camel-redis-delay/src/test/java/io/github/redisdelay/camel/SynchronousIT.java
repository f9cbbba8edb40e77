// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.AsyncProcessorAwaitManager;
import org.apache.camel.support.PluginHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The option synchronous, on both sides. */
class SynchronousIT extends ConsumerSideIT {

    private final Semaphore go = new Semaphore(0);

    @AfterEach
    void letGo() {
        go.release(1000);
    }

    @Test
    void should_go_on_on_the_senders_thread() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .to(uri + "?delay=1h&synchronous=true")
                        .process(exchange -> threads.add(Thread.currentThread()));
            }
        });
        for (int i = 0; i < 20; i++) {
            assertThat(send("direct:in", i, Map.of()).isFailed()).isFalse();
        }
        assertThat(threads).hasSize(20).containsOnly(Thread.currentThread());
        assertThat(stats().delayed()).isEqualTo(20);
    }

    @Test
    void should_wait_for_the_end_of_the_route() throws Exception {
        schedule("a", "x");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + FAST + "&synchronous=true")
                        .routeId("consumer")
                        .threads(1)
                        .process(exchange -> {
                            take(exchange);
                            go.tryAcquire(20, TimeUnit.SECONDS);
                            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                                throw new IllegalStateException("expected by the test");
                            }
                        });
            }
        });
        AsyncProcessorAwaitManager waiting =
                PluginHelper.getAsyncProcessorAwaitManager(context.getCamelContextExtension());
        for (int attempt = 1; attempt <= 2; attempt++) {
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(attempt);
            await().untilAsserted(
                            () -> assertThat(waiting.browse()).singleElement().satisfies(thread -> assertThat(
                                            thread.getBlockedThread().getName())
                                    .contains("RedisDelay")));
            assertThat(stats().leased()).isOne();
            go.release();
        }
        assertEmpty();
    }
}
