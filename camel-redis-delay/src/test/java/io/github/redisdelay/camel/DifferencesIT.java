// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePattern;
import org.apache.camel.Message;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.support.SynchronizationAdapter;
import org.junit.jupiter.api.Test;

/** The claims of the section "Good to know" of the component's page; that consumers share a queue is in ConsumerIT. */
class DifferencesIT extends ConsumerSideIT {

    @Test
    void should_go_on_with_its_own_body_where_a_reply_is_asked_for() throws Exception {
        start(consume("", exchange -> {
            take(exchange);
            exchange.getMessage().setBody("a reply");
        }));
        assertThat(template.requestBody(uri, "a request")).isEqualTo("a request");
        assertThat(next().getBody()).isEqualTo("a request");
    }

    @Test
    void should_leave_behind_what_is_neither_body_nor_header() throws Exception {
        CompletableFuture<Exchange> other = new CompletableFuture<>();
        start(consume("", exchange -> {
            take(exchange);
            other.complete(exchange.copy());
        }));
        template.send(uri, sent -> {
            sent.setPattern(ExchangePattern.InOut);
            sent.setProperty("property", "x");
            sent.setVariable("variable", "x");
            sent.getMessage().setHeader(Exchange.AGGREGATION_COMPLETE_ALL_GROUPS, true);
            sent.getMessage().setHeader("list", List.of("x"));
            sent.getMessage().setHeader("array", new String[] {"x"});
            sent.getMessage().setHeader("text", "x");
            sent.getMessage().setBody(new ByteArrayInputStream("stream".getBytes(StandardCharsets.UTF_8)));
        });
        Message received = next();
        assertThat(received.getBody()).isEqualTo("stream".getBytes(StandardCharsets.UTF_8));
        assertThat(received.getHeaders())
                .containsEntry("text", "x")
                .doesNotContainKeys("list", "array", Exchange.AGGREGATION_COMPLETE_ALL_GROUPS);
        Exchange there = other.get(10, TimeUnit.SECONDS);
        assertThat(there.getProperty("property")).isNull();
        assertThat(there.getVariable("variable")).isNull();
        assertThat(there.getPattern()).isEqualTo(ExchangePattern.InOnly);
    }

    @Test
    void should_end_the_senders_unit_of_work_when_the_message_is_stored() {
        context.start();
        CompletableFuture<Object> completed = new CompletableFuture<>();
        template.send(uri + "?delay=1h", sent -> {
            sent.getMessage().setBody("x");
            sent.getExchangeExtension().addOnCompletion(new SynchronizationAdapter() {
                @Override
                public void onComplete(Exchange exchange) {
                    completed.complete(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID));
                }
            });
        });
        assertThat(completed).isCompletedWithValueMatching(id -> id != null);
        assertThat(stats().delayed()).isOne();
    }

    @Test
    void should_work_on_one_message_at_a_time_with_threads_behind_it_too() throws Exception {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).routeId("consumer").threads(4).process(exchange -> {
                    most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                    stats(); // a round trip to Redis, in which a second message could come
                    underWay.decrementAndGet();
                    take(exchange);
                });
            }
        });
        for (int i = 0; i < 20; i++) {
            schedule("m" + i, "x");
        }
        await().until(() -> received.size() == 20);
        assertThat(most).hasValue(1);
    }

    @Test
    void should_leave_what_waits_in_redis_when_it_is_stopped_and_told_to_complete_all_tasks() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri)
                        .routeId("consumer")
                        .shutdownRunningTask(ShutdownRunningTask.CompleteAllTasks)
                        .process(exchange -> {
                            take(exchange);
                            go.await(20, TimeUnit.SECONDS);
                        });
            }
        });
        for (String id : List.of("a", "b", "c")) {
            send(uri, id, Map.of());
        }
        next();
        CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> {
            try {
                context.getRouteController().stopRoute("consumer");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        await().until(() -> consumer().isSuspended()
                || consumer().isStoppingOrStopped()
                || context.getRouteController().getRouteStatus("consumer").isStopping());
        go.countDown();
        stopped.get(20, TimeUnit.SECONDS);
        await().until(() -> stats().leased() == 0);
        assertThat(stats().delayed()).isEqualTo(2);
        assertThat(received).isEmpty();
    }
}
