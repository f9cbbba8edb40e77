// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where a message could be lost, held for too long or worked on beside itself. */
class CompletionEdgeCasesTest extends CamelRedisTest {

    private static final class Evil extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }
    }

    private RedisDelayConsumer consumer() {
        return (RedisDelayConsumer) context.getRoute("consumer").getConsumer();
    }

    @Test
    void should_return_a_message_whose_exception_cannot_be_described() throws Exception {
        start(consume("", exchange -> {
            throw new Evil();
        }));
        send(uri, "x", Map.of());
        await().until(() -> stats().delayed() == 1);
        assertThat(stats().leased()).isZero();
        assertThat(consumer().getUnderWay()).isZero();
    }

    @Test
    void should_return_a_message_that_seda_did_not_accept() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?concurrentConsumers=5&redeliveryDelay=1h&redeliveryJitter=0")
                        .routeId("consumer")
                        .to("seda:full?size=1");
                from("seda:full").process(exchange -> {
                    begun.countDown();
                    go.await();
                });
            }
        });
        send(uri, "x0", Map.of());
        begun.await();
        for (int i = 1; i < 5; i++) {
            send(uri, "x" + i, Map.of());
        }
        // One is worked on, one waits, the others were refused.
        await().until(() -> stats().delayed() == 3);
        await().until(() -> consumer().getUnderWay() == 2);
        go.countDown();
        await().until(() -> stats().leased() == 0);
        assertThat(stats().delayed()).isEqualTo(3);
    }

    @Test
    void should_return_a_message_that_failed_after_it_was_handed_to_seda() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?redeliveryDelay=1h")
                        .routeId("consumer")
                        .to("seda:later")
                        .process(exchange -> {
                            throw new IllegalStateException("after the handover");
                        });
                from("seda:later").process(exchange -> go.await());
            }
        });
        send(uri, "x", Map.of());
        await().until(() -> stats().delayed() == 1);
        go.countDown();
    }

    @Test
    void should_keep_its_slot_when_it_scheduled_its_own_message_again() throws Exception {
        AtomicInteger atATime = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger finished = new AtomicInteger();
        Semaphore permits = new Semaphore(0);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri)
                        .routeId("consumer")
                        .process(exchange -> most.accumulateAndGet(atATime.incrementAndGet(), Math::max))
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .to(uri)
                        .process(exchange -> {
                            permits.acquire();
                            atATime.decrementAndGet();
                            finished.incrementAndGet();
                        });
            }
        });
        send(uri, "x", Map.of());
        for (int i = 1; i <= 5; i++) {
            int round = i;
            await().until(() -> stats().delayed() == 1);
            permits.release();
            await().until(() -> finished.get() == round);
        }
        assertThat(most).hasValue(1);
        context.getRouteController().suspendRoute("consumer");
        permits.release(100);
        await().until(() -> consumer().getUnderWay() == 0);
    }

    @Test
    void should_find_its_own_message_after_a_poll_enrich() throws Exception {
        String other = "redis-delay:" + redis.uniqueQueue();
        CountDownLatch done = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?redeliveryDelay=1h")
                        .routeId("consumer")
                        .setProperty("own", header(RedisDelayConstants.MESSAGE_ID))
                        .pollEnrich(other, 5_000)
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, exchangeProperty("own"))
                        .to(uri + "?delay=1h")
                        .process(exchange -> done.countDown());
            }
        });
        send(other, "enrichment", Map.of());
        send(uri, "x", Map.of());
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        await().until(() -> stats().leased() == 0);
        assertThat(stats().delayed()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "maximumRedeliveries, x",
        "maximumRedeliveries, 1s",
        "database, one",
        "concurrentConsumers, abc",
        "maxMessagesPerPoll, 1.5",
        "maximumMessageSize, 1MB"
    })
    void should_refuse_what_is_no_whole_number(String option, String value) {
        context.start();
        assertThatThrownBy(() -> send(uri + "?" + option + "=" + value, "x", Map.of()))
                .hasStackTraceContaining("option '" + option + "' is '" + value + "': give a whole number");
    }

    @Test
    void should_not_show_a_password_of_a_file_that_cannot_be_read(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("redisson.yaml");
        Files.writeString(file, "singleServerConfig:\n  address: \"redis://localhost:6379\"\n  password: s3cret: x\n");
        context.start();
        Throwable error = catchThrowable(() -> send(uri + "?configurationUri=file:" + file, "x", Map.of()));
        assertThat(error).hasStackTraceContaining("configurationUri");
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            assertThat(String.valueOf(cause.getMessage())).doesNotContain("s3cret");
        }
    }
}
