// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/** A route that always fails has no delay between its deliveries. */
final class FailingRoute {

    private FailingRoute() {}

    static void run() throws Exception {
        LongAdder failures = new LongAdder();
        AtomicLong latest = new AtomicLong();
        AtomicInteger good = new AtomicInteger();
        try (OverloadBench bench = new OverloadBench();
                DefaultCamelContext context = new DefaultCamelContext()) {
            context.disableJMX();
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    errorHandler(noErrorHandler());
                    from("redis-delay:orders?redeliveryDelay=0&maximumRedeliveries=-1&address="
                                    + bench.server.address())
                            .process(exchange -> {
                                if (exchange.getMessage().getBody(String.class).equals("bad")) {
                                    failures.increment();
                                    exchange.setRollbackOnly(true); // a failure without a line in the log for each
                                    return;
                                }
                                long late = exchange.getMessage().getHeader("CamelRedisDelayLateness", Long.class);
                                latest.accumulateAndGet(late, Math::max);
                                good.incrementAndGet();
                            });
                }
            });
            context.start();
            bench.queue
                    .schedule(ScheduleRequest.of("bad", Envelope.of("bad").encode(), DueTime.now()))
                    .result()
                    .get(20, TimeUnit.SECONDS);
            await().until(() -> failures.sum() > 10);
            OverloadBench.Work before = bench.work();
            long begin = System.nanoTime();
            long failed = failures.sum();
            Duration duration = OverloadBench.lasting(Duration.ofSeconds(3));
            int others = (int) duration.toMillis() / 100;
            for (int i = 0; i < others; i++) {
                bench.queue
                        .schedule(ScheduleRequest.of(
                                "good" + i, Envelope.of("good").encode(), DueTime.now()))
                        .result()
                        .get(20, TimeUnit.SECONDS);
                OverloadBench.run(Duration.ofMillis(100));
            }
            OverloadBench.Work work = bench.work().since(before);
            failed = failures.sum() - failed;
            // Longer than planned on a busy machine.
            double seconds = OverloadBench.since(begin).toMillis() / 1000.0;
            OverloadBench.LOG.info(
                    "a route that always fails, redeliveryDelay=0: {} deliveries/s, {} scripts for each, {} % of Redis'"
                            + " time; others were {} ms late at the most",
                    Math.round(failed / seconds),
                    Math.round(10.0 * (work.scripts() - others) / failed) / 10.0,
                    Math.round(work.scriptMicros() / seconds / 1000) / 10.0,
                    latest.get());
            await().atMost(Duration.ofSeconds(30)).until(() -> good.get() == others);
            assertThat(failed).as("deliveries").isPositive();
            QueueStats there = bench.stats();
            assertThat(there.delayed() + there.leased())
                    .as("messages that are there")
                    .isGreaterThan(0);
            assertThat(failed).as("deliveries").isLessThan(Math.round(seconds * 100) + 50);
            // A claim and a return for each.
            assertThat(work.scripts() - others)
                    .as("scripts for " + failed + " deliveries")
                    .isLessThan(3 * failed + 200);
            Experiment.row(
                    "a route that always fails, redeliveryDelay=0",
                    (int) failed,
                    others + 1,
                    1,
                    0,
                    0,
                    Duration.ofMillis(latest.get()));
        }
    }
}
