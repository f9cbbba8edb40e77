// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/** A body of 50 MB goes all the ways that a message can go. */
final class LargeBody {

    private LargeBody() {}

    static void run() throws Exception {
        byte[] body = new byte[50 * 1024 * 1024];
        new Random(1).nextBytes(body);
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        AtomicInteger garbled = new AtomicInteger();
        try (OverloadBench bench = new OverloadBench();
                DefaultCamelContext context = new DefaultCamelContext()) {
            String address = "address=" + bench.server.address() + "&requestTimeout=60s";
            context.disableJMX();
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    errorHandler(noErrorHandler());
                    from("redis-delay:orders?redeliveryDelay=100ms&" + address).process(exchange -> {
                        byte[] received = exchange.getMessage().getBody(byte[].class);
                        if (!Arrays.equals(received, body)) {
                            garbled.incrementAndGet();
                        }
                        lengths.add(received.length);
                        if (lengths.size() == 1) {
                            throw new IllegalStateException("on purpose");
                        }
                    });
                }
            });
            context.start();
            ProducerTemplate template = context.createProducerTemplate();
            String uri = "redis-delay:orders?delay=100ms&" + address;
            Exchange refused =
                    template.request(uri, exchange -> exchange.getMessage().setBody(body));
            assertThat(refused.getException())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("maximumMessageSize")
                    .hasMessageContaining("1048576");
            long begin = System.nanoTime();
            Exchange stored = template.request(uri + "&maximumMessageSize=67108864", exchange -> exchange.getMessage()
                    .setBody(body));
            assertThat(stored.getException()).isNull();
            Duration storing = OverloadBench.since(begin);
            await().atMost(Duration.ofMinutes(2)).until(() -> lengths.size() == 2 && bench.isEmpty());
            OverloadBench.LOG.info(
                    "a body of 50 MB: stored in {} ms, delivered, returned, delivered again and acknowledged after {} ms",
                    storing.toMillis(),
                    OverloadBench.since(begin).toMillis());
            assertThat(garbled).hasValue(0);
            assertThat(lengths).containsExactly(body.length, body.length);
            assertThat(bench.stats().dead()).isZero();
            Experiment.row("a body of 50 MB, returned once", 1, 1, 1, 0, 1, OverloadBench.since(begin));
        }
    }
}
