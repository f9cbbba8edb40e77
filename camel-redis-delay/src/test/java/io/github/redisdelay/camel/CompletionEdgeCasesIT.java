// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.UnitOfWork;
import org.apache.camel.support.SynchronizationAdapter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

/** Where a message could be lost, held for too long or worked on beside itself. */
class CompletionEdgeCasesIT extends CamelRedisIT {

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
        start(consume("?redeliveryDelay=1h&redeliveryJitter=0", exchange -> {
            throw new Evil();
        }));
        send(uri, "x", Map.of());
        await().untilAsserted(() ->
                assertThat(stats().nextDueMicros()).as("due again in an hour").isGreaterThan(3_500_000_000L));
        assertThat(stats().leased()).isZero();
        await().until(() -> consumer().getProcessing() == 0);
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
        await().until(() -> stats().delayed() == 3 && stats().nextDueMicros() > 3_500_000_000L);
        await().until(() -> consumer().getProcessing() == 2);
        go.countDown();
        await().until(() -> stats().leased() == 0);
        assertThat(stats().delayed()).isEqualTo(3);
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
        await().until(() -> consumer().getProcessing() == 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_know_its_route_until_it_is_completed(boolean asynchronous) throws Exception {
        context.setUseMDCLogging(true);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                var route = from(uri).routeId("consumer");
                (asynchronous ? route.threads(1) : route)
                        .to("direct:inner")
                        .process(exchange -> exchange.getExchangeExtension()
                                .addOnCompletion(new SynchronizationAdapter() {
                                    @Override
                                    public void onDone(Exchange done) {
                                        seen.add(MDC.get(UnitOfWork.MDC_ROUTE_ID) + " "
                                                + done.getUnitOfWork()
                                                        .getRoute()
                                                        .getRouteId() + " "
                                                + done.getExchangeId().equals(MDC.get(UnitOfWork.MDC_EXCHANGE_ID)));
                                    }
                                }));
                from("direct:inner").routeId("inner").log("inner");
            }
        });
        send(uri, "x", Map.of());
        assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("consumer consumer true");
        await().until(() -> context.getInflightRepository().size() == 0);
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
                .hasStackTraceContaining("option '" + option + "' is '" + value + "': it must be a whole number");
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
